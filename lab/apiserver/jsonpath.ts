/** The JSONPath of printer columns: `.status.v4availableIPs`, `.spec.list[*].name`, `.status.conditions[?(@.type=="Ready")].status`. */
import type { Json } from './json.ts';
import { isObject } from './json.ts';

type Step = (values: readonly Json[]) => Json[];

/** @returns a reader of all matching values, or undefined when the path is not understood. */
export function compileJsonPath(path: string): ((value: Json) => Json[]) | undefined {
  const steps: Step[] = [];
  let rest = path.replace(/^\{(.*)\}$/, '$1').replace(/^\$/, '');
  while (rest !== '') {
    const key = /^\.((?:\\.|[^.[\\])+)/.exec(rest);
    const quoted = /^\[(?:'([^']*)'|"([^"]*)")\]/.exec(rest);
    const index = /^\[(-?\d+)\]/.exec(rest);
    const slice = /^\[(-?\d*):(-?\d*)\]/.exec(rest);
    const all = /^(?:\[\*\]|\.\*)/.exec(rest);
    const filter = /^\[\?\(\s*@((?:\.[^=!<>\s]+)+)\s*(==|!=)\s*(?:'([^']*)'|"([^"]*)"|([^)\s]+))\s*\)\]/.exec(rest);
    const match = all ?? key ?? quoted ?? index ?? slice ?? filter;
    if (match === null) return undefined;
    if (match === all) steps.push(children);
    else if (match === key) steps.push(member((key?.[1] ?? '').replace(/\\(.)/g, '$1')));
    else if (match === quoted) steps.push(member(quoted?.[1] ?? quoted?.[2] ?? ''));
    else if (match === index) steps.push(element(Number(index?.[1])));
    else if (match === slice) steps.push(part(slice?.[1] ?? '', slice?.[2] ?? ''));
    else if (filter !== null) steps.push(matching(filter));
    rest = rest.slice(match[0].length);
  }
  return (value) => steps.reduce<Json[]>((values, step) => step(values), [value]);
}

function member(key: string): Step {
  return (values) => values.flatMap((value) => (isObject(value) && Object.hasOwn(value, key) ? [value[key] as Json] : []));
}

function element(index: number): Step {
  return (values) => values.flatMap((value) => (Array.isArray(value) && value.at(index) !== undefined ? [value.at(index) as Json] : []));
}

function part(from: string, to: string): Step {
  const [start, end] = [from === '' ? 0 : Number(from), to === '' ? undefined : Number(to)];
  return (values) => values.flatMap((value) => (Array.isArray(value) ? value.slice(start, end) : []));
}

const children: Step = (values) => values.flatMap((value) => (Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []));

function matching(filter: RegExpExecArray): Step {
  const read = compileJsonPath(filter[1] ?? '');
  const wanted = filter[3] ?? filter[4] ?? filter[5] ?? '';
  const equals = filter[2] === '==';
  return (values) =>
    values
      .flatMap((value) => (Array.isArray(value) ? value : [value]))
      .filter((value) => {
        const found = read?.(value)[0];
        return found !== undefined && (String(found) === wanted) === equals;
      });
}
