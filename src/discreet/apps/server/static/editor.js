// A plain textarea that completes names of the policy and underlines the place of an error.
"use strict";
const Editor = (() => {
  const MOST = 8;

  function make(area, list, completions) {
    const backdrop = area.parentElement.querySelector(".backdrop");
    let active = -1;
    let shown = [];

    // --- the mark under an error: the same text behind the area, invisible but for the mark ----------------
    function mark(place) {
      backdrop.replaceChildren();
      if (!place) return;
      const [start, end] = place;
      const wrong = document.createElement("mark");
      wrong.textContent = area.value.slice(start, Math.max(end, start + 1)) || " ";
      backdrop.append(area.value.slice(0, start), wrong);
      backdrop.scrollTop = area.scrollTop;
    }
    area.addEventListener("scroll", () => { backdrop.scrollTop = area.scrollTop; });

    // --- completion ----------------------------------------------------------------------------------------
    const begun = () => /['"]?[\p{L}\p{N}_]*$/u.exec(area.value.slice(0, area.selectionStart))[0];

    function close() {
      list.hidden = true;
      list.replaceChildren();
      shown = [];
      active = -1;
      area.removeAttribute("aria-activedescendant");
    }

    function choose(index) {
      active = index;
      [...list.children].forEach((item, i) => item.setAttribute("aria-selected", i === index));
      if (index >= 0) area.setAttribute("aria-activedescendant", list.children[index].id);
    }

    function insert(index) {
      const { text, kind } = shown[index];
      const start = area.selectionStart - begun().length;
      area.setRangeText(kind === "aggregate" ? `${text}(` : `${text} `, start, area.selectionStart, "end");
      close();
      area.focus();
      area.dispatchEvent(new Event("input", { bubbles: true }));
      close();
    }

    function suggest(everything) {
      const start = begun().toLowerCase();
      if (!start && !everything) return close();
      const fits = completions.filter(({ text }) => text.toLowerCase().replace(/^['"]/, "").startsWith(start.replace(/^['"]/, "")));
      shown = fits.filter(({ text }) => text.toLowerCase() !== start).slice(0, MOST);
      if (!shown.length) return close();
      list.replaceChildren(...shown.map(({ text, kind }, i) => {
        const item = document.createElement("div");
        item.id = `suggestion-${i}`;
        item.setAttribute("role", "option");
        item.setAttribute("aria-selected", "false");
        const name = document.createElement("span");
        const what = document.createElement("small");
        name.textContent = text;
        what.textContent = kind;
        item.append(name, what);
        item.addEventListener("mousedown", (event) => { event.preventDefault(); insert(i); });
        return item;
      }));
      active = -1;
      list.hidden = false;
    }

    area.addEventListener("input", (event) => {
      mark(null);
      if (event.inputType && event.inputType.startsWith("insert")) suggest(false);
      else close();
    });
    area.addEventListener("blur", close);
    area.addEventListener("keydown", (event) => {
      if (event.ctrlKey && event.code === "Space") {
        event.preventDefault();
        suggest(true);
      } else if (!list.hidden && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
        event.preventDefault();
        const step = event.key === "ArrowDown" ? 1 : -1;
        choose((active + step + shown.length) % shown.length);
      } else if (!list.hidden && event.key === "Enter" && active >= 0 && !event.ctrlKey) {
        event.preventDefault();
        insert(active);
      } else if (!list.hidden && event.key === "Escape") {
        event.preventDefault();
        close();
      }
    });
    return { mark };
  }

  return { make };
})();
