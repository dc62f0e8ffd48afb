/**
 * Text from anybody, made safe to print.
 * @module
 */

/**
 * Escapes control characters, marks of text direction and other invisible characters: names in
 * records come from anybody, and a Corefile may be another file.
 */
export function escapeControls(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `\\u{${code.toString(16)}}`
  })
}
