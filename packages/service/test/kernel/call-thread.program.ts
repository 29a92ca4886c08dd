import { answerCalls } from '../../src/kernel/call-thread.ts'

answerCalls(async (call: string) => {
  if (call === 'throw') throw new Error('no such call')
  if (call === 'end') process.exit(3)
  if (call === 'spin') for (;;);
  if (call === 'hang') return new Promise<string>(() => {})
  return `${call} ${process.pid}`
})
