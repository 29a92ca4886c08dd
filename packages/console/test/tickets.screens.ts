/** A ticket is worked where it is shown: its fields are menus and times in place, and nothing moves under the pointer. */
import { expect, test } from 'vitest'
import { choose } from './choose.ts'
import { makeDesk } from './desk.fixture.ts'
import { consoleBench } from './harness.ts'
import { settled } from './settled.ts'

const bench = consoleBench()

async function openTicket(expected: readonly number[] = []) {
  const api = await bench().service.newOrganization('Analytical Engines')
  const desk = await makeDesk(api)
  const path = `/v1/tickets/${desk.ticket.id}`
  const opened = await bench().open(api, `/tickets/${desk.ticket.id}`, { expected })
  await opened.page.getByText('Parcel 1843 is lost').first().waitFor()
  await settled(opened.page)
  const field = (name: string, value: unknown) =>
    expect.poll(async () => (await api.get(path)).json[name]).toBe(value)
  return { ...opened, api, path, field, joan: desk.joan }
}

test('status, priority, assignee and due time are changed in place, and no control moves', async () => {
  const { page, audit, field, joan } = await openTicket()
  const details = page.getByRole('region', { name: 'Details' })
  const status = details.getByRole('combobox', { name: 'Status' })
  const edit = page.getByRole('button', { name: 'Edit' })
  const places = async () =>
    JSON.stringify([
      await status.boundingBox(),
      await details.getByRole('combobox', { name: 'Assignee' }).boundingBox(),
      await details.getByRole('combobox', { name: 'Priority' }).boundingBox(),
      await details.getByLabel('Due').boundingBox(),
      await edit.boundingBox(),
    ])
  const before = await places()
  await status.click()
  await expect
    .poll(() => page.getByRole('option').allTextContents())
    .toEqual(['Open', 'Pending', 'On hold', 'Resolved'])
  await audit()
  await page.getByRole('option', { name: 'On hold' }).click()
  await field('status', 'on_hold')
  await choose(details.getByRole('combobox', { name: 'Priority' }), 'Urgent')
  await field('priority', 'urgent')
  await choose(details.getByRole('combobox', { name: 'Assignee' }), 'Joan Clarke')
  await field('assigneeId', joan.id)
  await choose(details.getByRole('combobox', { name: 'Assignee' }), 'Unassigned')
  await field('assigneeId', null)
  const due = details.getByLabel('Due')
  await due.fill('2030-01-07 10:00')
  await due.press('Enter')
  await field('dueAt', '2030-01-07T10:00:00.000Z')
  await settled(page)
  expect(await places()).toBe(before)
  await details.getByRole('button', { name: 'Pick a date' }).click()
  await page.getByRole('button', { name: /, 9 January 2030/ }).click()
  await field('dueAt', '2030-01-09T10:00:00.000Z')
  await due.fill('')
  await edit.focus()
  await field('dueAt', null)
  await page.getByRole('button', { name: 'Resolve' }).press('e')
  await field('status', 'resolved')
  await expect.poll(() => page.getByRole('button', { name: 'Resolve' }).isDisabled()).toBe(true)
  expect(await edit.boundingBox()).toEqual(JSON.parse(before)[4])
  await choose(status, 'Closed')
  await field('status', 'closed')
  await status.waitFor({ state: 'detached' })
  expect(await details.getByRole('combobox').count()).toBe(1)
  // Each change once, though it has an event of the update too.
  const events = page.getByRole('region', { name: 'Activity' }).getByRole('listitem')
  await expect
    .poll(async () => (await events.allTextContents()).map((text) => text.replace(/ by First key.*/, '')))
    .toEqual([
      'Created',
      'Status changed',
      'Updated',
      'Assigned',
      'Updated',
      'Updated',
      'Updated',
      'Updated',
      'Status changed',
      'Status changed',
    ])
  await audit()
})

test('a due time that is no time, or that the service refuses, keeps its text', async () => {
  const { page, audit, field } = await openTicket([422])
  const due = page.getByLabel('Due')
  await due.fill('tomorrow')
  await due.press('Enter')
  await page.getByText('must be a day, or').waitFor()
  await audit()
  await due.fill('0000-01-01')
  await due.press('Enter')
  await expect.poll(() => due.getAttribute('aria-invalid')).toBe('true')
  expect(await due.inputValue()).toBe('0000-01-01')
  await due.press('Escape')
  expect(await due.inputValue()).toBe('')
  await field('dueAt', null)
})

test('a due time that somebody else has set meanwhile is a conflict', async () => {
  const { api, path, page, field } = await openTicket([412])
  const due = page.getByLabel('Due')
  await due.fill('2030-01-07')
  await api.patch(path, { dueAt: '2030-02-01T10:00:00Z', priority: 'low' })
  await page.getByRole('combobox', { name: 'Priority' }).getByText('Low').waitFor()
  await due.press('Enter')
  const question = page.getByRole('dialog', { name: 'Someone else changed this' })
  await question
    .getByText(/1 Feb 2030/)
    .first()
    .waitFor()
  await question.getByRole('button', { name: 'Save' }).click()
  await field('dueAt', '2030-01-07T00:00:00.000Z')
  await question.waitFor({ state: 'detached' })
})
