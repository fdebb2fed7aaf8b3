"use strict";
const { sliders, texts, states } = JSON.parse(document.getElementById("data").textContent);
const pages = [...document.querySelectorAll(".page")];
const by = id => document.getElementById(id);
const names = Object.keys(sliders);
const SECONDS = 8;
let shown = Math.min(pages.length, Math.max(1, Number(location.hash.slice(1)) || 1)) - 1;
let timer = null;

function show(number) {
  shown = Math.min(pages.length - 1, Math.max(0, number));
  scrollTo(0, 0);
  pages.forEach((page, at) => page.classList.toggle("shown", at === shown));
  by("place").textContent = `${shown + 1} of ${pages.length}`;
  by("back").disabled = shown === 0;
  by("next").disabled = shown === pages.length - 1;
  if (shown === pages.length - 1) play(false);
}

function play(on) {
  clearInterval(timer);
  timer = on ? setInterval(() => show(shown + 1), SECONDS * 1000) : null;
  by("play").textContent = on ? "Pause" : "Play";
  by("play").setAttribute("aria-pressed", String(on));
}

function move() {
  let place = 0;
  for (const name of names) {
    const values = sliders[name], at = Number(by(name).value), text = values[at].toLocaleString("en");
    place = place * values.length + at;
    by(`${name}_shown`).textContent = text;
    by(name).setAttribute("aria-valuetext", text);
  }
  const [plan, least] = states[place].map(at => texts[at].join(" "));
  by("plan").textContent = plan;
  by("least").textContent = least;
}

const KEYS = {
  ArrowRight: () => show(shown + 1), ArrowDown: () => show(shown + 1),
  PageDown: () => show(shown + 1), " ": () => show(shown + 1),
  ArrowLeft: () => show(shown - 1), ArrowUp: () => show(shown - 1), PageUp: () => show(shown - 1),
  Home: () => show(0), End: () => show(pages.length - 1),
};
addEventListener("keydown", event => {
  const used = event.target.closest(event.key === " " ? "input, button, summary" : "input");
  if (used || event.ctrlKey || event.altKey || event.metaKey || !KEYS[event.key]) return;
  event.preventDefault();
  play(false);
  KEYS[event.key]();
});
by("back").addEventListener("click", () => { play(false); show(shown - 1); });
by("next").addEventListener("click", () => { play(false); show(shown + 1); });
by("play").addEventListener("click", () => {
  if (timer === null && shown === pages.length - 1) show(0);
  play(timer === null);
});
names.forEach(name => by(name).addEventListener("input", move));
document.documentElement.classList.add("stepping");
by("steps").hidden = by("sliders").hidden = false;
show(shown);
move();
