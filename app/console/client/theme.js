/** Light and dark theme: the system's setting, until people choose one. */
import { iconButton } from "./dom.js";
import { t } from "./words.js";

const place = "rowgate.theme";

const isDark = () => {
  const chosen = document.documentElement.dataset["theme"];
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

export function startTheme() {
  const chosen = localStorage.getItem(place);
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset["theme"] = chosen;
}

export const themeButton = () =>
  iconButton("moon", t("frame.theme"), {
    compact: true,
    onclick() {
      const theme = isDark() ? "light" : "dark";
      document.documentElement.dataset["theme"] = theme;
      localStorage.setItem(place, theme);
    },
  });
