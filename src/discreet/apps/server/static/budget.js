// The budget's card: what the next question would take, and how many such fit.
"use strict";
(() => {
  const card = document.querySelector(".budget");
  const slider = document.getElementById("price");
  const limit = Number(card.dataset.limit);
  const left = Number(card.dataset.remaining);
  const next = card.querySelector(".next");
  function show() {
    const price = Number(((limit * slider.value) / 100).toPrecision(3));
    const fits = Math.floor(left / price + 1e-9);
    slider.setAttribute("aria-valuetext", String(price));
    card.querySelector("output").textContent = price;
    next.setAttribute("width", `${Math.min(100 * price / limit, 100 * left / limit)}%`);
    document.getElementById("fits").textContent = fits === 0
      ? "No such question fits any more."
      : `${fits.toLocaleString("en")} more such question${fits === 1 ? " fits" : "s fit"}.`;
  }
  slider.addEventListener("input", show);
  show();
})();
