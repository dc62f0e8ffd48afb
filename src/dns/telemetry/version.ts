/**
 * Name and version of this program.
 * @module
 */

/** The program's name. */
export const PROGRAM = 'kubedoh'

/** The program's version, as in `package.json`. */
export const VERSION = '0.1.0'
