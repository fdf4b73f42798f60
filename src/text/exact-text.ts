/** JSON and YAML for programs: values unchanged, without control characters that a terminal or log viewer would interpret. */
import { Document, isScalar, visit } from 'yaml';
import { isVisible, UNSEEN_IN_LINES } from './visible-text.ts';

/**
 * JSON has such characters only in strings, where `\u` is equivalent.
 *
 * @param json as `JSON.stringify` makes it
 */
export function exactJson(json: string): string {
  return json.replace(UNSEEN_IN_LINES, inUnits);
}

/** Both surrogates of a character beyond 16 bits, as in JSON. */
function inUnits(character: string): string {
  return Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');
}

/** As a block, which is the default for text of several lines, `yaml` loses spaces of a blank first line. */
const BLANK_FIRST_LINE = /^\s*\n/;

/** YAML has `\u` only in double quotes: text that needs it is quoted so. */
export function exactYaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_key, node) => {
      if (!isScalar(node) || typeof node.value !== 'string') return;
      if (BLANK_FIRST_LINE.test(node.value) || !isVisible(node.value.replaceAll('\n', ''))) node.type = 'QUOTE_DOUBLE';
    },
  });
  // On several lines, text in double quotes loses spaces at the start of a line.
  return document
    .toString({ doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER, lineWidth: 0 })
    .replace(UNSEEN_IN_LINES, (character) => {
      const digits = (character.codePointAt(0) ?? 0).toString(16);
      return digits.length > 4 ? `\\U${digits.padStart(8, '0')}` : `\\u${digits.padStart(4, '0')}`;
    });
}
