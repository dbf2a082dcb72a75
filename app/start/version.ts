/** The version of the service: that of package.json, which only a checkout has beside the sources. */
export const version = "0.1.0";
