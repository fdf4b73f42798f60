/** The report of an audit as one HTML file: no script, nothing from another place, everything escaped. */
import type { AuditReport } from './audit-text.ts';

const STYLE =
  'body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1b1f24;background:#fff}' +
  'table{border-collapse:collapse;width:100%;margin:.5rem 0 1.5rem}td,th{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #d0d7de}' +
  'code{font:13px ui-monospace,monospace;overflow-wrap:anywhere}.count{color:#57606a}' +
  '@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}td,th{border-color:#30363d}.count{color:#9da7b3}}';

/** Longer groups are cut: a person reads this. `-o json` has all. */
const MOST = 500;

export function auditHtml({ cluster, northbound, time, groups, count, notJudged, counts }: AuditReport): string {
  const sections = groups.map(
    ({ invariant, text, cause, findings }) =>
      `<h2>${escaped(`${invariant}: ${cause}`)} <span class="count">${findings.length}</span></h2><p>${escaped(text)}</p>` +
      `<table><thead><tr><th>Object or row</th><th>What is found</th><th>Next command</th></tr></thead><tbody>${findings
        .slice(0, MOST)
        .map(
          ({ subject, message, next }) =>
            `<tr><td><code>${escaped(subject)}</code></td><td>${escaped(message)}</td><td><code>${escaped(next)}</code></td></tr>`,
        )
        .join(
          '',
        )}</tbody></table>${findings.length > MOST ? `<p>… and ${findings.length - MOST} more; kiln audit -o json lists them</p>` : ''}`,
  );
  const objects = Object.entries(counts).map(([kind, number]) => `${escaped(kind)} ${number}`);
  const limits = notJudged.map((one) => `<li>${escaped(one)}</li>`);
  return (
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Audit of ${escaped(cluster)}</title>` +
    `<style>${STYLE}</style></head><body><h1>Audit of ${escaped(cluster)}</h1><p>${escaped(time)} · OVN by ${escaped(northbound)} · ${count} ${count === 1 ? 'finding' : 'findings'} · ${objects.join(' · ')}</p>` +
    `${sections.join('')}${limits.length === 0 ? '' : `<h2>Not judged</h2><ul>${limits.join('')}</ul>`}</body></html>\n`
  );
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
