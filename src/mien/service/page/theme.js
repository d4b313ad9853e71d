// Before the first paint: the theme that was chosen on this device.
(() => {
  try {
    const chosen = localStorage.getItem("mien-theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch {
    // A browser without storage follows the system.
  }
})();
