/** The style of the service's own pages, and its logo. Both are served as files; pages contain no inline style. */

/** For light and dark, wide and narrow screens. */
export const styleSheet = `:root {
  color-scheme: light dark;
  --ground: light-dark(#f7f8fa, #14171c);
  --card: light-dark(#ffffff, #1c2027);
  --line: light-dark(#d9dde4, #343b46);
  --text: light-dark(#1c2430, #e6e9ee);
  --quiet: light-dark(#566173, #a3adbb);
  --accent: light-dark(#0b5fa5, #7cc0ff);
  --chip: light-dark(#eaf1f8, #26303c);
}

* {
  box-sizing: border-box;
}

body {
  margin: 0 auto;
  max-width: 64rem;
  padding: 2rem 1.25rem 4rem;
  background: var(--ground);
  color: var(--text);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}

a {
  color: var(--accent);
  text-underline-offset: 0.15em;
}

a:focus-visible,
button:focus-visible,
input:focus-visible,
select:focus-visible,
.example:focus-visible {
  outline: 3px solid var(--accent);
  outline-offset: 2px;
}

.endpoints code,
.example {
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
  font-size: 0.9em;
}

.example {
  margin: 0;
  overflow-x: auto;
  padding: 0.9rem 1rem;
  border: 1px solid var(--line);
  border-radius: 0.5rem;
  background: var(--card);
}

h1 {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0.6rem;
  margin: 0;
  font-size: 1.75rem;
  line-height: 1.2;
}

h1 img {
  width: 2.25rem;
  height: 2.25rem;
}

h1 small {
  color: var(--quiet);
  font-size: 1rem;
  font-weight: normal;
}

main > h2,
section > h2 {
  margin: 2.5rem 0 0.75rem;
  font-size: 1.25rem;
}

.endpoints h3 {
  margin: 0;
  font-size: 1rem;
}

.lead,
.quiet {
  color: var(--quiet);
}

.lead {
  margin: 0.5rem 0 1.5rem;
}

.links,
.endpoints,
.actions {
  margin: 0;
  padding: 0;
  list-style: none;
}

.links {
  display: grid;
  grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr));
  gap: 0.75rem;
}

.links a {
  display: block;
  height: 100%;
  padding: 0.8rem 1rem;
  border: 1px solid var(--line);
  border-radius: 0.5rem;
  background: var(--card);
  font-weight: 600;
  text-decoration: none;
}

.links a:hover {
  border-color: var(--accent);
}

.links span {
  display: block;
  color: var(--quiet);
  font-size: 0.875rem;
  font-weight: normal;
}

.endpoints {
  border: 1px solid var(--line);
  border-radius: 0.5rem;
  background: var(--card);
}

.endpoints > li {
  display: grid;
  grid-template-columns: minmax(14rem, 1fr) 3fr;
  gap: 0.5rem 1.5rem;
  padding: 0.9rem 1rem;
}

.endpoints > li + li {
  border-top: 1px solid var(--line);
}

.endpoints code {
  color: var(--quiet);
  overflow-wrap: anywhere;
}

.actions {
  display: flex;
  flex-wrap: wrap;
  align-content: flex-start;
  gap: 0.35rem;
}

.actions li {
  padding: 0.1rem 0.55rem;
  border-radius: 1rem;
  background: var(--chip);
  font-size: 0.875rem;
}

.note {
  padding: 0.9rem 1rem;
  border: 1px solid var(--line);
  border-left: 0.3rem solid var(--accent);
  border-radius: 0.5rem;
  background: var(--card);
}

.note :first-child {
  margin-top: 0;
}

.note :last-child {
  margin-bottom: 0;
}

.docs {
  max-width: 90rem;
}

.docs nav {
  display: flex;
  flex-wrap: wrap;
  gap: 0.5rem 1.25rem;
  margin: 0.75rem 0 1rem;
}

.docs nav span {
  display: flex;
  flex-wrap: wrap;
  gap: 0.5rem 1.25rem;
}

.docs nav [aria-current] {
  color: inherit;
  font-weight: 600;
  text-decoration: none;
}

.endpoint {
  margin: 0.5rem 0;
  border: 1px solid var(--quiet);
  border-radius: 0.35rem;
  background: var(--card);
}

.endpoint > summary {
  display: flex;
  align-items: baseline;
  gap: 0.75rem;
  padding: 0.6rem 0.9rem;
  cursor: pointer;
}

.endpoint > summary::before {
  content: "▸";
}

.endpoint[open] > summary::before {
  content: "▾";
}

.endpoint > summary h3 {
  margin: 0;
}

.endpoint-view {
  padding: 0 0.9rem 0.9rem;
}

#sign-in:not([hidden]) {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0.5rem;
  margin-bottom: 1rem;
}

#sign-in p {
  flex-basis: 100%;
  margin: 0;
  font-size: 0.875rem;
}

#search,
#sign-in :is(input, select, button) {
  padding: 0.4rem 0.7rem;
  border: 1px solid var(--quiet);
  border-radius: 0.35rem;
  background: var(--ground);
  color: inherit;
  font: inherit;
}

#sign-in input {
  flex: 1 1 14rem;
  min-width: 0;
}

#sign-in button {
  border-color: var(--accent);
  background: var(--accent);
  color: var(--card);
  font-weight: 600;
  cursor: pointer;
}

/* The form above signs in for all requests, and there is one server. */
.docs .swagger-ui :is(.scheme-container, .auth-wrapper, .authorization__btn) {
  display: none;
}

/* The line that opened it names the endpoint. */
.docs .swagger-ui :is(.information-container, .opblock-tag) {
  display: none;
}

.docs .swagger-ui .wrapper {
  max-width: none;
  padding: 0;
}

.dark-mode .docs .swagger-ui {
  background: transparent;
}

.unseen {
  position: absolute;
  width: 1px;
  height: 1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}

@media (max-width: 40rem) {
  body {
    padding-top: 1.25rem;
  }

  .endpoints > li {
    grid-template-columns: minmax(0, 1fr);
  }
}
`;

/** Rows of a table behind a gate. */
export const mark = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#0b5fa5"/>
<path d="M8 25V13a8 8 0 0 1 16 0v12" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round"/>
<path d="M12.2 14.5h7.6M12.2 19h7.6M12.2 23.5h7.6" stroke="#9fd0ff" stroke-width="2.6" stroke-linecap="round"/>
</svg>
`;
