/** JSON and YAML for programs: every value as it was, and nothing in the text that a terminal or a log reader would obey. */
import { Document, isScalar, visit } from 'yaml';
import { isVisible, UNSEEN_IN_LINES } from './visible-text.ts';

/**
 * JSON has such characters in strings alone, where `\u` stands for the same.
 *
 * @param json as `JSON.stringify` makes it
 */
export function exactJson(json: string): string {
  return json.replace(UNSEEN_IN_LINES, inUnits);
}

/** Both halves of a character beyond 16 bits, as JSON has it. */
function inUnits(character: string): string {
  return Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');
}

/** YAML has `\u` in double quotes alone: whatever text needs it is written so. */
export function exactYaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_key, node) => {
      if (isScalar(node) && typeof node.value === 'string' && !isVisible(node.value.replaceAll('\n', ''))) node.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString().replace(UNSEEN_IN_LINES, (character) => {
    const digits = (character.codePointAt(0) ?? 0).toString(16);
    return digits.length > 4 ? `\\U${digits.padStart(8, '0')}` : `\\u${digits.padStart(4, '0')}`;
  });
}
