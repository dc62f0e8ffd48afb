/**
 * Builds one of the programs that suites compare with, by its name.
 * @module
 */
import { BUILDS } from './binaries.ts'

const [, , name = ''] = process.argv
BUILDS[name]?.build()
