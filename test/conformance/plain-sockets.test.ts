import { testRecordedAnswers } from './recorded-answers.ts'
import { openPlainSockets } from './transports.ts'

testRecordedAnswers({ name: 'sockets without batches', open: openPlainSockets, isDoh: false })
