// Draw a figure that the server made, with Plotly: its texts go to the caption, its marks to the plot.
"use strict";
// Plotly writes some styles of its drawings as attributes, which the pages' security policy forbids to everyone.
// Through the style object, which only a script of ours can reach, the same is allowed.
SVGElement.prototype.setAttribute = function setAttribute(name, value) {
  if (name === "style") this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
};

const Figures = (() => {
  const theme = () => document.documentElement.dataset.theme;
  const CONFIG = { responsive: true, displayModeBar: false, displaylogo: false, showTips: false };

  function fit({ data, layout }, width) {
    const narrow = width < 520;
    const bottom = layout.showlegend === false ? 48 : 84;
    const across = { ...layout.xaxis };
    const many = data.length && data[0].x.length > (narrow ? 3 : 7);
    if (across.type === "category" && many) across.tickangle = narrow ? -60 : -35;
    return {
      ...layout,
      xaxis: across,
      autosize: true,
      dragmode: false, // a finger scrolls the page, and does not zoom the plot
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: narrow ? 52 : 64, r: narrow ? 12 : 20, t: 14, b: narrow ? bottom + 10 : bottom },
      font: { ...layout.font, size: narrow ? 11 : 13, family: getComputedStyle(document.body).fontFamily },
      hoverlabel: { ...layout.hoverlabel, font: { family: getComputedStyle(document.body).fontFamily } },
    };
  }

  // `figure` has title, subtitle, data and layout; `holder` is a <figure> with .caption, .sub and .plot.
  function draw(holder, figure) {
    const plot = holder.querySelector(".plot");
    holder.querySelector(".caption").textContent = figure.title;
    holder.querySelector(".sub").textContent = figure.subtitle;
    plot.setAttribute("aria-label", `${figure.title}. ${figure.subtitle}`);
    return Plotly.react(plot, figure.data, fit(figure, plot.clientWidth), CONFIG);
  }

  // A figure that came in both themes is drawn again, from what is here, when the theme changes.
  function drawBoth(holder, figures) {
    holder.figures = figures;
    return draw(holder, figures[theme()]);
  }

  document.addEventListener("themechange", () => {
    document.querySelectorAll("figure.picture").forEach((holder) => {
      if (holder.figures) draw(holder, holder.figures[theme()]);
    });
  });

  // Pairs of labels and numbers, into a list of definitions.
  function facts(list, pairs) {
    list.replaceChildren(...pairs.map(([label, value]) => {
      const pair = document.createElement("div");
      const term = document.createElement("dt");
      const detail = document.createElement("dd");
      term.textContent = label;
      detail.textContent = value;
      pair.append(term, detail);
      return pair;
    }));
  }

  return { draw, drawBoth, facts, theme };
})();
