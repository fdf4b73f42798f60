/** Links between the documents, with their anchors, and the paths of documents that programs and manifests name. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = globSync(['*.md', 'docs/**/*.md', '{deploy,charts,src,test,lab,scripts,bench}/**/README.md'], { cwd: ROOT });
/** Texts that a user reads, and that name a page by its path. */
const NAMERS = globSync(['*.md', 'docs/**/*.md', 'deploy/**/*.{yaml,md}', 'charts/**/*', 'src/**/*.ts'], { cwd: ROOT });

const withoutCode = (text: string): string =>
  text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()]/g, ' '));

/** As GitHub makes an anchor of a heading; a second heading of the same words gets a number. */
function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ +(.*)$/gm)) {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = plain.replace(/[^\p{L}\p{N} _-]/gu, '').replace(/ /g, '-');
    let anchor = slug;
    for (let more = 1; anchors.has(anchor); more += 1) anchor = `${slug}-${more}`;
    anchors.add(anchor);
  }
  return anchors;
}

test('every link of a document leads to a file of the repository, and to a heading in it', () => {
  const broken: string[] = [];
  let links = 0;
  for (const page of PAGES) {
    const text = readFileSync(join(ROOT, page), 'utf8');
    for (const [, target = ''] of withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      links += 1;
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : normalize(join(dirname(page), path));
      if (!existsSync(join(ROOT, file))) broken.push(`${page}: ${target}`);
      else if (anchor !== undefined && !anchorsOf(readFileSync(join(ROOT, file), 'utf8')).has(anchor)) broken.push(`${page}: ${target}`);
    }
  }
  assert.ok(links > 100, `${links} links`);
  assert.deepEqual(broken, []);
});

test('every page of docs that a program, a manifest or a document names exists', () => {
  const missing: string[] = [];
  for (const file of NAMERS) {
    if (!/\.(?:ts|md|ya?ml|tpl|txt|json)$/.test(file)) continue;
    for (const [named] of readFileSync(join(ROOT, file), 'utf8').matchAll(/\bdocs\/[a-z][a-z/-]*\.md\b/g))
      if (!existsSync(join(ROOT, named))) missing.push(`${file}: ${named}`);
  }
  assert.deepEqual(missing, []);
});

test('every page of docs/operate has its line in docs/operate.md', () => {
  const list = readFileSync(join(ROOT, 'docs/operate.md'), 'utf8');
  const pages = globSync('docs/operate/*.md', { cwd: ROOT });
  assert.deepEqual(
    pages.filter((page) => !list.includes(`(${page.slice('docs/'.length)}`)),
    [],
  );
});
