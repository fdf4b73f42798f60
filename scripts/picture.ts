/**
 * Draws what a command printed as a terminal, light and dark, for the README:
 *
 *   kiln explain subnet red-web | npm run --silent picture -- docs/explain 'kiln explain subnet red-web'
 */
import { readFileSync, writeFileSync } from 'node:fs';

const WIDEST = 92;
const COLUMN = 7.9;
const LINE = 18;
const MARGIN = 16;
const BAR = 28;

interface Theme {
  readonly ground: string;
  readonly bar: string;
  readonly text: string;
  readonly prompt: string;
  readonly bad: string;
  readonly good: string;
}

const THEMES: Readonly<Record<string, Theme>> = {
  light: { ground: '#ffffff', bar: '#eaeef2', text: '#1f2328', prompt: '#0969da', bad: '#cf222e', good: '#1a7f37' },
  dark: { ground: '#0d1117', bar: '#21262d', text: '#e6edf3', prompt: '#58a6ff', bad: '#ff7b72', good: '#3fb950' },
};

const escaped = (text: string): string => text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const cut = (line: string): string => (line.length <= WIDEST ? line : `${line.slice(0, WIDEST - 1)}…`);

/** The columns that `explain` paints in a terminal. */
function painted(line: string, { bad, good }: Theme): string {
  return escaped(line)
    .replace(/(?<= )False(?= )/, `<tspan fill="${bad}">False</tspan>`)
    .replace(/(?<= )True(?= )/, `<tspan fill="${good}">True</tspan>`);
}

function picture(command: string, lines: readonly string[], theme: Theme): string {
  const rows = [`<tspan fill="${theme.prompt}">$</tspan> ${escaped(command)}`, ...lines.map((line) => painted(cut(line), theme))];
  const width = Math.ceil(WIDEST * COLUMN) + 2 * MARGIN;
  const height = BAR + rows.length * LINE + 2 * MARGIN;
  const texts = rows.map(
    (row, at) => `<text x="${MARGIN}" y="${(BAR + MARGIN + (at + 0.7) * LINE).toFixed(1)}" xml:space="preserve">${row}</text>`,
  );
  const dots = [0, 1, 2].map((at) => `<circle cx="${MARGIN + at * 16}" cy="${BAR / 2}" r="5" fill="${theme.text}" opacity="0.25"/>`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `<rect width="${width}" height="${height}" rx="8" fill="${theme.ground}" stroke="${theme.bar}"/>`,
    `<path d="M0 ${BAR}V8a8 8 0 0 1 8-8h${width - 16}a8 8 0 0 1 8 8v${BAR - 8}z" fill="${theme.bar}"/>`,
    ...dots,
    `<g font-family="ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="13" fill="${theme.text}">`,
    ...texts,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

const [path, command] = process.argv.slice(2);
if (path === undefined || command === undefined) throw new Error('usage: COMMAND | npm run --silent picture -- PATH COMMAND');
const lines = readFileSync(0, 'utf8').trimEnd().split('\n');
for (const [name, theme] of Object.entries(THEMES)) writeFileSync(`${path}-${name}.svg`, picture(command, lines, theme));
