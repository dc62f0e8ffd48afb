import { testRecordedAnswers } from './recorded-answers.ts'
import { openBothWays } from './transports.ts'

testRecordedAnswers({ name: 'the resolver, on both paths', open: openBothWays, isDoh: false })
