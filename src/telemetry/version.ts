/**
 * What this program is called.
 * @module
 */

/** Its name. */
export const PROGRAM = 'kubedoh'

/** Its version, the same as in `package.json`. */
export const VERSION = '0.1.0'
