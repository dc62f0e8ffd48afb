/**
 * Environment variables in a Corefile: `{$NAME}` and `{%NAME%}`. One that is not set is nothing.
 * @module
 */

/** Looks a variable up. */
export type Environment = (name: string) => string | undefined

/** Puts variables in their places; braces with nothing between them stay. */
export function expandVariables(text: string, environment: Environment): string {
  const expand = (_: string, name: string): string => environment(name) ?? ''
  return text.replace(/\{%([^%}]+)%\}/g, expand).replace(/\{\$([^}]+)\}/g, expand)
}
