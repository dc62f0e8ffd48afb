/**
 * The entry of `bin/kubedoh`.
 * @module
 */
import { main } from './main.ts'
import { ignoreClosedPipes } from './output.ts'

const output = { stdout: process.stdout, stderr: process.stderr }
ignoreClosedPipes(output)
process.exitCode = await main(process.argv.slice(2), output)
