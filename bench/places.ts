/**
 * Where benchmarks find things.
 * @module
 */
import { dirname, join } from 'node:path'

/** The checkout. */
export const ROOT: string = join(import.meta.dirname, '..')

/** The folder of the benchmarks' bundles, and of `package/`, what `npm run build` makes. */
export const BUNDLES: string = dirname(process.argv[1] ?? '')
