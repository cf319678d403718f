// How times read: in the zone and by the clock of the user's settings, or else the device's.

import { locale } from "./texts.js";

const { timezone, clock } = document.documentElement.dataset;

export const zone = known(timezone) ? timezone : Intl.DateTimeFormat().resolvedOptions().timeZone;

// A browser may be older than a zone.
function known(name) {
  try {
    return Boolean(name && Intl.DateTimeFormat(undefined, { timeZone: name }));
  } catch {
    return false;
  }
}

export function format(options) {
  const hours = clock ? { hourCycle: clock === "12h" ? "h12" : "h23" } : {};
  return new Intl.DateTimeFormat(locale, { ...options, ...hours, timeZone: zone });
}

// The moment as a field of type datetime-local holds it, and back.

const field = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short", timeZone: zone });

export const local = (at) => field.format(at).replace(" ", "T");

export function moment(text) {
  const asIfUtc = new Date(`${text}Z`);
  const shift = new Date(`${local(asIfUtc)}Z`) - asIfUtc;
  const guess = new Date(asIfUtc - shift);
  // Beside a change of the clocks the shift of the guess is another one.
  return new Date(asIfUtc - (new Date(`${local(guess)}Z`) - guess));
}
