/**
 * `kubedoh/corefile`: parses Corefiles and reports errors and warnings with file and line.
 * @module
 */
export type { CorefileSource } from '../corefile/lexeme-stream.ts'
export { type Corefile, parseCorefile, readCorefile } from '../corefile/parse-corefile.ts'
export { ConfigError, formatProblem, type Position, type Problem } from '../corefile/problem.ts'
export type { Directive, Line, ServerBlock, Word } from '../corefile/server-block.ts'
