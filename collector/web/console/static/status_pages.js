// Draws the preview beside a status page's settings anew while somebody types; a button does so without it.

const WAIT_MS = 500;
const button = document.querySelector("[data-preview]");
let waiting = 0;

if (button) {
  button.form.addEventListener("submit", (event) => {
    // It leaves the form where it is: nothing is sent that could be sent twice.
    if (event.submitter === button) event.stopPropagation();
  });
  button.form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => button.form.requestSubmit(button), WAIT_MS);
  });
}
