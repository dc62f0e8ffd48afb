/**
 * Environment variables in a Corefile: `{$NAME}` and `{%NAME%}`. An unset variable is empty.
 * @module
 */

/** Returns the value of a variable; `undefined` if it is not set. */
export type Environment = (name: string) => string | undefined

/** Maximum number of variables in a word, including those in values of variables. */
const VARIABLES_MAX = 1000
/** Maximum length of an expanded word. */
const CHARACTERS_MAX = 1_000_000

/**
 * Replaces variables with their values, also variables within values (github.com/coredns/caddy,
 * caddyfile/parse.go, `replaceEnvReferences`). Stops at empty braces, which stay as they are.
 */
export function expandVariables(text: string, environment: Environment): string {
  return expandBetween(expandBetween(text, ['{%', '%}'], environment), ['{$', '}'], environment)
}

function expandBetween(
  text: string,
  [opening, closing]: readonly [string, string],
  environment: Environment,
): string {
  let expanded = text
  for (let i = 0; i < VARIABLES_MAX; i++) {
    const start = expanded.indexOf(opening)
    const end = start < 0 ? -1 : expanded.indexOf(closing, start)
    const name = expanded.slice(start + opening.length, end)
    if (end <= start + opening.length || expanded.length > CHARACTERS_MAX) break
    const value = environment(name) ?? ''
    expanded = expanded.split(opening + name + closing).join(value)
  }
  return expanded
}
