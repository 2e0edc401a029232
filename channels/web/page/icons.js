// The page's few drawings. Each is decoration: its button carries the words.

import { html } from "./vendor/htm-preact.module.js";

const stroke = (path) => html`
  <svg class="icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2"
    stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${path}</svg>`;

export const Logo = ({ size = 28 }) => html`
  <svg class="logo" width=${size} height=${size} viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="9" fill="#4353ff" />
    <g fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round">
      <path d="M9 13.5v5" /><path d="M14 10v12" /><path d="M19 12.5v7" /><path d="M24 15v2" />
    </g>
  </svg>`;

export const icons = {
  send: stroke(html`<path d="M12 19V5" /><path d="M5.5 11.5 12 5l6.5 6.5" />`),
  stop: html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><rect x="6.5" y="6.5" width="11" height="11" rx="2.5" fill="currentColor" /></svg>`,
  inbox: stroke(html`<path d="M4 13.5h4.2l1.4 2.5h4.8l1.4-2.5H20" /><path d="M6.3 5h11.4l2.3 8.5V18a1.5 1.5 0 0 1-1.5 1.5h-13A1.5 1.5 0 0 1 4 18v-4.5z" />`),
  auto: stroke(html`<circle cx="12" cy="12" r="8.5" /><path d="M12 3.5v17a8.5 8.5 0 0 0 0-17z" fill="currentColor" stroke="none" />`),
  light: stroke(html`<circle cx="12" cy="12" r="4" /><path d="M12 3v1.5M12 19.5V21M3 12h1.5M19.5 12H21M5.6 5.6l1.1 1.1M17.3 17.3l1.1 1.1M18.4 5.6l-1.1 1.1M6.7 17.3l-1.1 1.1" />`),
  dark: stroke(html`<path d="M20 14.2A8.2 8.2 0 0 1 9.8 4a8.2 8.2 0 1 0 10.2 10.2z" />`),
  leave: stroke(html`<path d="M14 5H6.5A1.5 1.5 0 0 0 5 6.5v11A1.5 1.5 0 0 0 6.5 19H14" /><path d="M10.5 12H20M16.5 8.5 20 12l-3.5 3.5" />`),
  close: stroke(html`<path d="M6.5 6.5l11 11M17.5 6.5l-11 11" />`),
  down: stroke(html`<path d="M12 5v14" /><path d="M5.5 12.5 12 19l6.5-6.5" />`),
  approved: stroke(html`<path d="M5 12.5 10 17.5 19.5 7.5" />`),
  denied: stroke(html`<circle cx="12" cy="12" r="8.5" /><path d="M6.2 6.2l11.6 11.6" />`),
  expired: stroke(html`<circle cx="12" cy="12" r="8.5" /><path d="M12 7.5V12l3 2" />`),
  closed: stroke(html`<circle cx="12" cy="12" r="8.5" /><path d="M8 12h8" />`),
  open: stroke(html`<path d="M12 3.5 5 6.2v5.3c0 4.3 2.9 7.6 7 9 4.1-1.4 7-4.7 7-9V6.2z" /><path d="M12 8.5v4M12 15.5v.01" />`),
  file: stroke(html`<path d="M13.5 3.5H7A1.5 1.5 0 0 0 5.5 5v14A1.5 1.5 0 0 0 7 20.5h10a1.5 1.5 0 0 0 1.5-1.5V8.5z" /><path d="M13.5 3.5v5h5" />`),
};
