/**
 * Runs one attack in its own process: `attacker.ts MODULE FUNCTION ARGUMENT`, with the argument
 * as JSON. Sends what the function returns to the parent.
 * @module
 */
const [, , module = '', name = '', argument = 'null'] = process.argv
const exported: Readonly<Record<string, unknown>> = await import(module)
const attack = exported[name]
if (typeof attack !== 'function') throw new TypeError(`${module} exports no function ${name}`)
const result: unknown = await attack(JSON.parse(argument))
process.send?.(result ?? null, () => process.exit())
