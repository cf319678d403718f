// The language of the page, and the texts of scripts in it: `translate("Copied")`. The English text is the name of each.

const { lang } = document.documentElement;
const translated = JSON.parse(document.querySelector("meta[name=texts]")?.content ?? "{}");

// As the device writes dates and numbers, if its language is that of the page.
export const locale = navigator.languages.find((each) => each.split("-")[0] === lang) ?? lang;

// *values* fill each `%(name)s`.
export function translate(english, values = {}) {
  return (translated[english] ?? english).replace(/%\((\w+)\)s/g, (_, name) => values[name]);
}
