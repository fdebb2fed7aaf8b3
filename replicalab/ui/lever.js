// A number that is moved by hand or key: told while it moves, taken where it is let go.
export default function ({ parentElement, data, setTriggerValue }) {
  const lever = parentElement.querySelector(".lever") ?? made(parentElement);
  const [name, told, hand] = lever.children;
  lever.classList.toggle("bare", !data.named);
  say(name, data.named ? data.label : "");
  hand.ariaLabel = data.label;
  hand.min = data.least;
  hand.max = data.most;
  hand.step = data.step;

  const tell = (number, seen = true) => {
    hand.ariaValueText = number.toLocaleString("en");
    say(told, seen ? hand.ariaValueText : "");
    lever.style.setProperty("--across", (hand.value - hand.min) / (hand.max - hand.min || 1));
  };
  const take = () => {
    if (Number(hand.value) !== data.value) setTriggerValue("moved", Number(hand.value));
  };

  hand.oninput = () => tell(Number(hand.value));
  hand.onpointerdown = () => {
    hand.isDragged = true;
  };
  hand.onpointerup = hand.onpointercancel = () => {
    hand.isDragged = false;
  };
  // A key that is held moves the lever many times a second; it is taken once, at the end.
  hand.onkeydown = event => {
    hand.isRepeated = event.repeat;
  };
  hand.onkeyup = hand.onblur = () => {
    const wasRepeated = hand.isRepeated;
    hand.isRepeated = false;
    if (wasRepeated) take();
  };
  hand.onchange = () => {
    if (!hand.isRepeated) take();
  };
  const isHeld = hand.isDragged || hand.isRepeated;
  if (!isHeld) hand.value = data.value;
  // The browser puts it on the nearest step: told is what is so. One without a name stands where
  // its number is told already, but for the hand that moves it.
  tell(isHeld ? Number(hand.value) : data.value, data.named || document.activeElement === hand);
}

// A page is drawn anew where something in it changes, also into what it was.
function say(part, text) {
  if (part.textContent !== text) part.textContent = text;
}

function made(parent) {
  const lever = document.createElement("div");
  lever.className = "rl lever";
  const name = document.createElement("span");
  const told = document.createElement("span");
  told.className = "told";
  name.ariaHidden = told.ariaHidden = "true"; // the lever itself says both
  const hand = document.createElement("input");
  hand.type = "range";
  lever.append(name, told, hand);
  parent.append(lever);
  return lever;
}
