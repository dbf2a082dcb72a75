/**
 * Which columns a list shows, in which order, which of them stay at the left, and how wide they are. The browser keeps
 * what people change, for each endpoint; columns in the address go before it.
 */
import { usualColumns } from "../grid-state.js";

/** @typedef {ReturnType<typeof columnLayout>} ColumnLayout */
/** @typedef {{ columns?: string[], order?: string[], pinned?: string[], widths?: Record<string, number> }} Kept */

/** In pixels. */
const widthMin = 56;
const widthMax = 1200;

/** @param {import("../types.d.ts").Entity} entity @param {import("../grid-state.js").GridState} state @param {boolean} isGiven whether the address names the columns */
export function columnLayout(entity, state, isGiven) {
  const place = `rowgate.columns.${entity.path}`;
  const usual = usualColumns(entity);
  const base = merged(usual, entity.columns);
  let kept = readKept(place, entity.columns);
  let order = isGiven ? merged(state.columns, base) : merged(kept.order ?? [], base);
  let chosen = isGiven ? state.columns : (kept.columns ?? usual);
  const pinned = new Set(kept.pinned);
  const widths = new Map(Object.entries(kept.widths ?? {}));
  arrange();

  /** Those that stay at the left are the first ones. */
  function arrange() {
    order = [
      ...order.filter((name) => pinned.has(name)),
      ...order.filter((name) => !pinned.has(name)),
    ];
    state.columns = order.filter((name) => chosen.includes(name));
  }

  /** @param {Kept} changed */
  function keep(changed) {
    kept = { ...kept, ...changed };
    arrange();
    try {
      if (Object.keys(kept).length === 0) localStorage.removeItem(place);
      else localStorage.setItem(place, JSON.stringify(kept));
    } catch {
      // Without storage, or where it is full, the layout lasts as long as the view.
    }
  }

  return {
    pinned,
    widths,
    /** All columns in their order. */
    all: () => order,
    /** @param {readonly string[]} columns */
    show(columns) {
      chosen = [...columns];
      keep({ columns: chosen });
    },
    /** Puts a column before or after another one; beside one that stays at the left, it stays there too. @param {string} name @param {{ other: string, isAfter: boolean }} to */
    move(name, { other, isAfter }) {
      if (name === other) return;
      const rest = order.filter((one) => one !== name);
      rest.splice(rest.indexOf(other) + (isAfter ? 1 : 0), 0, name);
      order = rest;
      if (pinned.has(other)) pinned.add(name);
      else pinned.delete(name);
      arrange();
      keep({ order, pinned: [...pinned] });
    },
    /** @param {string} name @param {boolean} isPinned */
    pin(name, isPinned) {
      if (isPinned) pinned.add(name);
      else pinned.delete(name);
      keep({ pinned: [...pinned] });
    },
    /** @param {string} name @param {number} width in pixels */
    resize(name, width) {
      widths.set(name, Math.round(Math.min(widthMax, Math.max(widthMin, width))));
    },
    keepWidths: () => keep({ widths: Object.fromEntries(widths) }),
    isChanged: () =>
      Object.keys(kept).length > 0 || state.columns.join() !== usual.join() || pinned.size > 0,
    reset() {
      [order, chosen, kept] = [base, usual, {}];
      pinned.clear();
      widths.clear();
      keep({});
    },
  };
}

/** All names, first those given in their order; each other one behind the one that it follows in `all`. @param {readonly string[]} first @param {readonly string[]} all */
function merged(first, all) {
  const names = [...first];
  all.forEach((name, at) => {
    if (!names.includes(name)) names.splice(names.indexOf(all[at - 1] ?? "") + 1, 0, name);
  });
  return names;
}

/** Columns can be gone since, or be hidden from this caller. @param {string} place @param {readonly string[]} known @returns {Kept} */
function readKept(place, known) {
  try {
    /** @type {Kept} */
    const { columns, order, pinned, widths } = JSON.parse(localStorage.getItem(place) ?? "{}");
    const named = (/** @type {string[] | undefined} */ names) =>
      known
        .filter((one) => names?.includes(one))
        .toSorted((a, b) => (names?.indexOf(a) ?? 0) - (names?.indexOf(b) ?? 0));
    const shown = named(columns);
    const sizes = Object.entries(widths ?? {}).filter(
      ([name, width]) => known.includes(name) && width >= widthMin && width <= widthMax,
    );
    return {
      ...(shown.length > 0 && { columns: shown }),
      ...(order && { order: named(order) }),
      ...(pinned && { pinned: named(pinned) }),
      ...(sizes.length > 0 && { widths: Object.fromEntries(sizes) }),
    };
  } catch {
    return {};
  }
}
