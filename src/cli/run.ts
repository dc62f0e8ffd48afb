/**
 * The entry of `bin/kubedoh`.
 * @module
 */
import { main } from './main.ts'

process.exitCode = await main(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
})
