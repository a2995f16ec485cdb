// Light, dark or as the system says; chosen by a button, remembered in this browser. Runs before the first paint.
"use strict";
(() => {
  const CHOICES = ["auto", "light", "dark"];
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const read = () => {
    try { return localStorage.getItem("theme") || "auto"; } catch { return "auto"; }
  };
  let choice = CHOICES.includes(read()) ? read() : "auto";

  function apply() {
    const root = document.documentElement;
    const before = root.dataset.theme;
    root.dataset.theme = choice === "auto" ? (system.matches ? "dark" : "light") : choice;
    if (before && before !== root.dataset.theme) document.dispatchEvent(new Event("themechange"));
  }

  function label(button) {
    const names = { auto: "automatic", light: "light", dark: "dark" };
    button.setAttribute("aria-label", `Theme: ${names[choice]}`);
    button.title = `Theme: ${names[choice]}`;
    const use = button.querySelector("use");
    use.setAttribute("href", use.getAttribute("href").replace(/#.*/, `#${choice}`));
  }

  apply();
  system.addEventListener("change", apply);
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    label(button);
    button.addEventListener("click", () => {
      choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
      try { localStorage.setItem("theme", choice); } catch { /* a browser that keeps nothing still switches */ }
      label(button);
      apply();
    });
  });
})();
