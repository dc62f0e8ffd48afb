/**
 * Environment variables in a Corefile: `{$NAME}` and `{%NAME%}`. One that is not set is nothing.
 * @module
 */

/** Looks a variable up. */
export type Environment = (name: string) => string | undefined

/** Variables that one word may name, those in values of others included. */
const VARIABLES_MAX = 1000
/** Characters that it may grow to. */
const CHARACTERS_MAX = 1_000_000

/**
 * Puts variables in their places, also those that values name (github.com/coredns/caddy,
 * caddyfile/parse.go, `replaceEnvReferences`). Braces with nothing between them stay, and so does
 * what is behind them.
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
