/** A manifest of `deploy` that becomes a template of Helm: values of the YAML are replaced by expressions, and comments stay. */
import type { Document, Scalar, YAMLMap } from 'yaml';
import { isMap, isSeq, parseAllDocuments, stringify } from 'yaml';

type Path = readonly (string | number)[];

/** An expression, by the mark that stands for it until the YAML is printed. */
interface Marked {
  readonly text: string;
  /** How it is put: in place of the mark, indented on lines of its own below the key, or in place of the whole line. */
  readonly as: 'value' | 'block' | 'line';
}

const MARK = /HELM(\d+)MARK/;

export class TemplateFile {
  readonly #documents: readonly Document[];
  readonly #marks: Marked[] = [];
  readonly #name: string;

  constructor(name: string, yaml: string) {
    this.#name = name;
    this.#documents = parseAllDocuments(yaml).filter((document) => document.contents !== null);
  }

  /** The documents of a kind. */
  all(kind: string): readonly TemplateObject[] {
    return this.#documents.filter((document) => document.get('kind') === kind).map((document) => new TemplateObject(this, document));
  }

  /** @throws if there is no such object: the manifest has changed, and the chart must follow */
  object(kind: string, name: string): TemplateObject {
    const found = this.all(kind).find((one) => one.get(['metadata', 'name']) === name);
    if (found === undefined) throw new Error(`${this.#name} has no ${kind} ${name}`);
    return found;
  }

  mark(text: string, as: Marked['as']): string {
    this.#marks.push({ text, as });
    return `HELM${this.#marks.length - 1}MARK`;
  }

  fail(path: Path): never {
    throw new Error(`${this.#name} has nothing at ${path.join('.')}`);
  }

  /** @param condition an expression of Helm: without it the template is empty */
  text(condition: string): string {
    const printed = (document: Document): string => document.toString({ lineWidth: 0, flowCollectionPadding: false }).replace(/^---\n/, '');
    const yaml = this.#documents.map(printed).join('---\n');
    // The documents' own braces, as in alerts, are not Helm's.
    const lines = yaml.replaceAll('{{', '{{ "{{" }}').split('\n');
    const body = lines.flatMap((line) => this.#line(line)).join('\n');
    return `{{- if ${condition} }}\n${body.replace(/\n+$/, '\n')}{{- end }}\n`;
  }

  #line(line: string): readonly string[] {
    const at = MARK.exec(line);
    if (at === null) return [line];
    const mark = this.#marks[Number(at[1])] as Marked;
    const indent = /^ */.exec(line)?.[0] ?? '';
    switch (mark.as) {
      case 'value':
        return this.#line(line.replace(at[0], mark.text));
      case 'block': {
        const deeper = `${indent}  `;
        return [line.replace(/:? *HELM\d+MARK.*/, ':'), `${deeper}${mark.text.replaceAll('%', String(deeper.length))}`];
      }
      case 'line':
        return mark.text.split('\n').map((one) => `${indent}${one.replaceAll('%', String(indent.length))}`);
    }
  }
}

/** One object of the file. */
export class TemplateObject {
  readonly #file: TemplateFile;
  readonly #document: Document;

  constructor(file: TemplateFile, document: Document) {
    this.#file = file;
    this.#document = document;
  }

  /** The value at a path as data. @throws if there is none */
  get(path: Path): unknown {
    const found: unknown = this.#document.getIn(path, true);
    if (found === undefined) this.#file.fail(path);
    const { toJSON } = found as { readonly toJSON?: () => unknown };
    return isMap(found) || isSeq(found) ? found.toJS(this.#document) : toJSON === undefined ? found : (found as Scalar).value;
  }

  has(path: Path): boolean {
    return this.#document.hasIn(path);
  }

  /** The index of the member of a list with this name. */
  index(path: Path, name: string): number {
    const list = this.get(path) as readonly { readonly name?: string }[];
    const at = list.findIndex((one) => one.name === name);
    if (at === -1) this.#file.fail([...path, name]);
    return at;
  }

  /** Replaces a scalar by an expression. */
  value(path: Path, expression: string): void {
    this.get(path);
    this.#document.setIn(path, this.#file.mark(expression, 'value'));
  }

  /** Replaces a mapping or list by an expression with `%` for its indentation. */
  block(path: Path, expression: string): void {
    this.get(path);
    this.#document.setIn(path, this.#file.mark(expression, 'block'));
  }

  /** Adds lines at the end of a mapping or list, or instead of a key of it. `%` is their indentation. */
  lines(path: Path, lines: string, options: { readonly insteadOf?: string } = {}): void {
    const into: unknown = path.length === 0 ? this.#document.contents : this.#document.getIn(path, true);
    const mark = this.#file.mark(lines, 'line');
    if (isSeq(into)) into.add(this.#document.createNode(mark));
    else if (isMap(into)) this.#addPair(into, mark, [...path], options.insteadOf);
    else this.#file.fail(path);
  }

  #addPair(into: YAMLMap, mark: string, path: Path, insteadOf: string | undefined): void {
    const pair = this.#document.createPair(mark, null);
    if (insteadOf === undefined) {
      into.items.push(pair);
      return;
    }
    const at = into.items.findIndex(({ key }) => String(key) === insteadOf);
    const former = into.items[at];
    if (former === undefined) this.#file.fail([...path, insteadOf]);
    // The comment above belongs to what stands here.
    const comment = (former.key as Scalar).commentBefore;
    if (comment) (pair.key as Scalar).commentBefore = comment;
    into.items[at] = pair;
  }

  /** Puts a member of a list under a condition. */
  conditional(path: Path, name: string, condition: string): void {
    const at = this.index(path, name);
    const text = stringify([this.get([...path, at])]).trimEnd();
    this.#document.setIn([...path, at], this.#file.mark(`{{- if ${condition} }}\n${text}\n{{- end }}`, 'line'));
  }

  remove(path: Path): void {
    this.get(path);
    this.#document.deleteIn(path);
  }
}
