/** The columns that a CustomResourceDefinition declares for `kubectl get`, and their cells as an API server fills them. */
import { ageSince } from './duration.ts';
import { compileJsonPath } from './jsonpath.ts';
import type { Json, JsonObject } from './json.ts';
import { goEncoded, goPrinted, isObject, isRawJson, list, text } from './json.ts';
import { millisecondsOf } from './rfc3339.ts';
import type { Column } from './resource.ts';

const NAME: Column = { name: 'Name', type: 'string', format: 'name', priority: 0, cell: (item) => item.metadata.name };
const AGE: Column = { name: 'Age', type: 'date', priority: 0, cell: (item, now) => ageSince(item.metadata.creationTimestamp, now) };

export function columnsOf(version: JsonObject): Column[] {
  const declared = list(version['additionalPrinterColumns']).filter(isObject);
  if (declared.length === 0) return [NAME, AGE];
  return [
    NAME,
    ...declared.map((column): Column => {
      const type = text(column['type']);
      const read = compileJsonPath(text(column['jsonPath'])) ?? ((): Json[] => []);
      return {
        name: text(column['name']),
        type,
        ...(typeof column['format'] === 'string' ? { format: column['format'] } : {}),
        description: text(column['description']),
        priority: Number(column['priority'] ?? 0),
        cell: (item, now) => cell(read(item), type, now),
      };
    }),
  ];
}

/** Only the first match; null if it does not fit the column's type. */
function cell(found: readonly Json[], type: string, now: number): Json {
  const value = found[0];
  if (value === undefined) return null;
  if (type === 'string') return inWords(value);
  if (value === null) return null;
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? whole(value) : isRawJson(value) ? value : null;
    case 'number':
      return isRawJson(value) ? Number(value.rawJSON) : typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? age(value, now) : null;
    default:
      return null;
  }
}

function inWords(value: Json): string {
  if (typeof value === 'string') return value;
  if (value === null) return '<no value>';
  return Array.isArray(value) || isObject(value) ? goEncoded(value) : goPrinted(value);
}

/** The processor converts a float64 beyond int64 to the least int64. */
function whole(value: number): Json {
  return Math.abs(value) < 2 ** 63 ? Math.trunc(value) : JSON.rawJSON(String(-(2n ** 63n)));
}

function age(value: string, now: number): string {
  // An API server prints these as an unset time.
  if (value === '' || value === 'null' || value === '0001-01-01T00:00:00Z') return '<unknown>';
  return millisecondsOf(value) === undefined ? '<invalid>' : ageSince(value, now);
}
