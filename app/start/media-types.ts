/** Media types of the files that pages load. */
export const mediaTypes = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
} as const;
