// The colour theme, set before the first paint: "auto" follows the system, "light" and "dark" do not.
(() => {
  const KEY = "echo-bot-theme";
  const ORDER = ["auto", "light", "dark"];
  const read = () => {
    try {
      const kept = localStorage.getItem(KEY);
      return ORDER.includes(kept) ? kept : "auto";
    } catch {
      return "auto"; // storage may be forbidden; the theme is then not remembered
    }
  };
  const apply = (theme) => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  };
  let current = read();
  apply(current);
  window.echoTheme = {
    get: () => current,
    next: () => {
      current = ORDER[(ORDER.indexOf(current) + 1) % ORDER.length];
      apply(current);
      try {
        localStorage.setItem(KEY, current);
      } catch {
        // as above
      }
      return current;
    },
  };
})();
