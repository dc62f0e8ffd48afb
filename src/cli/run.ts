/**
 * The entry point of `bin/kubedoh`.
 * @module
 */
import { useCompileCache } from '../server/node/compile-cache.ts'
import { ignoreClosedPipes } from '../server/node/output.ts'
import { keepHeapsSmall } from '../server/node/small-heaps.ts'

// Node opens its inspector on SIGUSR1 unless there is a listener. Comes before the imports.
process.on('SIGUSR1', () => undefined)
keepHeapsSmall()
useCompileCache(import.meta.filename)
const { main } = await import('./main.ts')
const output = { stdout: process.stdout, stderr: process.stderr }
ignoreClosedPipes(output)
process.exitCode = await main(process.argv.slice(2), output)
