// Shows the row and class of the point under the mouse, in all panels, and only one class
// while the mouse is on its mark or name in the legend.
const svg = document.querySelector("svg"), tip = document.getElementById("tip");
const panels = [], rows = [], classes = [];
for (const path of svg.querySelectorAll("path[data-p]")) {
  const panel = panels[path.dataset.p] ??= [];
  for (const m of path.getAttribute("d").matchAll(/M(-?[\d.]+) (-?[\d.]+)/g)) panel.push([+m[1], +m[2]]);
  if (path.dataset.r === undefined) continue;
  for (const row of path.dataset.r.split(" ")) { rows.push(row); classes.push(+path.dataset.c); }
}
const rings = panels.map(() => {
  const ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  ring.setAttribute("class", "ring");
  ring.setAttribute("r", 7);
  ring.style.display = "none";
  return svg.appendChild(ring);
});
const className = c => c < 0 ? "no label" : "class " + classNames[c];

function nearest(x, y) {
  let best = -1, least = 12 * 12;
  for (const panel of panels) panel.forEach(([px, py], i) => {
    const d = (px - x) ** 2 + (py - y) ** 2;
    if (d < least) { best = i; least = d; }
  });
  return best;
}

function single(c) {
  svg.classList.toggle("one", c !== undefined);
  for (const path of svg.querySelectorAll("path[data-c]")) path.classList.toggle("on", path.dataset.c === c);
}

function show(event) {
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  const i = nearest(at.x, at.y);
  tip.hidden = i < 0;
  rings.forEach((ring, p) => {
    ring.style.display = i < 0 ? "none" : "";
    if (i < 0) return;
    ring.setAttribute("cx", panels[p][i][0]);
    ring.setAttribute("cy", panels[p][i][1]);
  });
  if (i < 0) return;
  tip.textContent = "row " + (Number(rows[i]) + 1) + (classNames.length ? ", " + className(classes[i]) : "")
    + (rowValues[rows[i]] ? ", " + rowValues[rows[i]] : "");
  const left = event.clientX + 14;
  tip.style.left = Math.min(left, innerWidth - tip.offsetWidth - 8) + "px";
  tip.style.top = event.clientY + 14 + "px";
}

function leave() {
  tip.hidden = true;
  for (const ring of rings) ring.style.display = "none";
}

svg.addEventListener("pointermove", show);
svg.addEventListener("pointerleave", leave);
for (const key of svg.querySelectorAll("path[data-c]:not([data-p])")) {
  for (const part of [key, key.nextElementSibling]) {
    part.addEventListener("pointerenter", () => single(key.dataset.c));
    part.addEventListener("pointerleave", () => single());
  }
}
