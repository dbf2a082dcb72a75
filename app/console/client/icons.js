/** The icons of the console, as lines. `icon` in `dom.js` draws them. */

/** By name: lines of 24 by 24 units. */
export const shapes = {
  menu: "M4 6h16M4 12h16M4 18h16",
  moon: "M20 14.5A8 8 0 0 1 9.5 4a8 8 0 1 0 10.5 10.5z",
  code: "M8 6l-6 6 6 6M16 6l6 6-6 6",
  plus: "M12 5v14M5 12h14",
  back: "M15 5l-7 7 7 7",
  next: "M9 5l7 7-7 7",
  filter: "M4 5h16l-6 8v6l-4-2v-4z",
  columns: "M4 5h16v14H4zM10 5v14M15 5v14",
  chart: "M4 20V4M4 20h16M8 16v-5M12 16V8M16 16v-7",
  down: "M12 4v11M7 11l5 5 5-5M5 20h14",
  up: "M12 16V5M7 9l5-5 5 5M5 20h14",
  higher: "M6 15l6-6 6 6",
  lower: "M6 9l6 6 6-6",
  pen: "M4 20l1-5L16 4l4 4L9 19zM13 7l4 4",
  pin: "M9 4h6l-1 7 3 3H7l3-3zM12 14v6",
  close: "M6 6l12 12M18 6L6 18",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  lock: "M6 11h12v9H6zM9 11V8a3 3 0 0 1 6 0v3",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16.5 16.5L21 21",
  jobs: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3.5 2",
  table: "M4 5h16v14H4zM4 10h16M4 14.5h16M10 10v9",
  refresh: "M19 12a7 7 0 1 1-2-5M17 3v4h-4",
  print: "M7 9V4h10v5M7 17H4V9h16v8h-3M7 14h10v6H7z",
  out: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
  home: "M4 11l8-7 8 7v9h-5v-6H9v6H4z",

  // Those that `console.icon` of an endpoint can name, besides some of the above.
  box: "M4 8l8-4 8 4v8l-8 4-8-4zM4 8l8 4 8-4M12 12v8",
  building: "M6 20V4h12v16M4 20h16M10 8h.01M14 8h.01M10 12h.01M14 12h.01M11 20v-4h2v4",
  calendar: "M4 6h16v14H4zM4 10.5h16M8.5 3.5V8M15.5 3.5V8",
  cart: "M3 5h3l2.2 10h9.6L20 8H7M9.5 19.5h.01M17 19.5h.01",
  coins: "M9 4a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM15.5 9.3a5.5 5.5 0 1 1-6 8.6",
  document: "M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6",
  folder: "M3 6h6l2 2.5h10V19H3z",
  gear: "M12 8.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.1 2.1M16.3 16.3l2.1 2.1M18.4 5.6l-2.1 2.1M7.7 16.3l-2.1 2.1",
  mail: "M3 6h18v12H3zM3 7l9 6.5L21 7",
  map: "M12 21s6.5-6 6.5-11.2a6.5 6.5 0 0 0-13 0C5.5 15 12 21 12 21zM12 7.500a2.3 2.3 0 1 0 0 4.6 2.3 2.3 0 0 0 0-4.600z",
  people:
    "M9 5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM2.5 20c0-3.6 2.9-5.5 6.5-5.500s6.5 1.9 6.5 5.500M15.5 5.300a3.5 3.5 0 0 1 0 6.400M17.5 14.800c2.4.7 4 2.5 4 5.2",
  person: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4.5 20c0-3.8 3.4-5.5 7.5-5.500s7.5 1.7 7.5 5.5",
  phone:
    "M5 4h4l1.5 5-2.3 1.600a12 12 0 0 0 5.2 5.200L15 13.500l5 1.500v4c0 .8-.7 1.4-1.5 1.300C10.8 19.6 4.4 13.2 3.7 5.5 3.6 4.7 4.2 4 5 4z",
  receipt: "M6 3v18l2-1.5 2 1.5 2-1.5 2 1.5 2-1.5 2 1.500V3zM9 8h6M9 12h6",
  star: "M12 3.500l2.6 5.4 5.9.8-4.3 4.1 1 5.900L12 16.900l-5.2 2.8 1-5.900L3.5 9.700l5.9-.8z",
  tag: "M4 4h8l8.5 8.5-8 8L4 12zM8 8h.01",
  tool: "M14.5 6.500a4.5 4.5 0 0 0-6 5.800L3.5 17.3 6.7 20.500l5-5a4.5 4.5 0 0 0 5.8-6l-2.8 2.8-3-.9-.9-3z",
  truck:
    "M2 6h12v10H2zM14 10h4l3.5 3.500V16H14M6.5 16a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM17 16a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
};
