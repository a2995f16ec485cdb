// The lab: a slider moves, the server computes the figure, Plotly draws it. The last setting always wins.
"use strict";
document.querySelectorAll("[data-exhibit]").forEach((section) => {
  const controls = section.querySelector(".controls");
  const holder = section.querySelector("figure.picture");
  const facts = section.querySelector(".facts");
  const known = new Map();
  let drawNumber = 0;
  let busy = false;
  let stale = false;

  const shown = (value) => {
    const small = /^1e-(\d+)$/.exec(value);
    if (small) return `10${[...`-${small[1]}`].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻").join("")}`;
    return Number(value) >= 10000 ? Number(value).toLocaleString("en") : value;
  };

  function settings() {
    const chosen = new URLSearchParams();
    const word = controls.querySelector("input[type=radio]:checked");
    if (word) chosen.set(word.name, word.value);
    controls.querySelectorAll("input[type=range]").forEach((slider) => {
      const value = slider.dataset.values.split(" ")[slider.value];
      const text = shown(value);
      slider.closest(".slider").querySelector("output").textContent = text;
      slider.setAttribute("aria-valuetext", text);
      const only = slider.closest(".slider").dataset.only;
      slider.disabled = Boolean(only && word && word.value !== only);
      slider.closest(".slider").classList.toggle("unused", slider.disabled);
      chosen.set(slider.name, value);
    });
    chosen.set("theme", Figures.theme());
    if (drawNumber) chosen.set("draw", drawNumber);
    return chosen.toString();
  }

  async function load(query) {
    if (!known.has(query)) {
      const response = await fetch(`/lab/figures/${section.dataset.exhibit}?${query}`);
      const body = await response.json();
      if (!response.ok) throw new Error(body.error.message);
      if (known.size > 60) known.clear();
      known.set(query, body);
    }
    return known.get(query);
  }

  async function update() {
    stale = true;
    settings();
    if (busy) return;
    busy = true;
    while (stale) {
      stale = false;
      try {
        const body = await load(settings());
        await Figures.draw(holder, body);
        Figures.facts(facts, body.facts.map(({ label, value }) => [label, value]));
        section.dataset.drawn = settings();
      } catch (error) {
        holder.querySelector(".sub").textContent = error.message;
      }
    }
    busy = false;
  }

  controls.addEventListener("input", update);
  controls.addEventListener("submit", (event) => event.preventDefault());
  section.querySelector(".again")?.addEventListener("click", () => {
    drawNumber = (drawNumber + 1) % 1000;
    update();
  });
  document.addEventListener("themechange", () => section.dataset.drawn !== undefined && update());
  new IntersectionObserver((seen, observer) => {
    if (seen.some((entry) => entry.isIntersecting)) {
      observer.disconnect();
      update();
    }
  }, { rootMargin: "400px" }).observe(section);
});
