// A panel that is changed in place: what is the same stays, with what is open, focused or marked.
export default function ({ parentElement, data }) {
  const panel = parentElement.querySelector(":scope > .in_place") ?? made(parentElement);
  const now = document.createElement("template");
  now.innerHTML = data.html; // escaped where it is made, by render/html.py
  change(panel, now.content);
}

function made(parent) {
  const panel = document.createElement("div");
  panel.className = "in_place";
  parent.append(panel);
  return panel;
}

// Give a node the children that another has.
function change(node, now) {
  const before = [...node.childNodes];
  const after = [...now.childNodes];
  before.slice(after.length).forEach(child => child.remove());
  after.forEach((child, at) => {
    const old = before[at];
    if (!old) node.append(child);
    else if (!isSame(old, child)) old.replaceWith(child);
    else if (child.nodeType === Node.ELEMENT_NODE) {
      changeAttributes(old, child);
      change(old, child);
    } else if (old.data !== child.data) old.data = child.data;
  });
}

// A fold is known by what is written on it: another one does not stand open in its place.
function isSame(one, other) {
  return (
    one.nodeName === other.nodeName &&
    (one.nodeName !== "DETAILS" || one.firstChild?.textContent === other.firstChild?.textContent)
  );
}

function changeAttributes(node, now) {
  for (const { name, value } of now.attributes)
    if (node.getAttribute(name) !== value) node.setAttribute(name, value);
  for (const { name } of [...node.attributes])
    if (name !== "open" && !now.hasAttribute(name)) node.removeAttribute(name);
}
