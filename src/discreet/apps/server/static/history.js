// The chart of what was spent.
"use strict";
(async () => {
  const holder = document.getElementById("spending");
  const response = await fetch(holder.dataset.figure);
  const figures = response.ok ? await response.json() : null;
  if (!figures) return;
  holder.hidden = false;
  Figures.drawBoth(holder, figures);
})();
