/** A booking and its possible moves. */

import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { CopyText } from '../../design/copy.tsx'
import { readersZone, sayDay } from '../../design/local-time.ts'
import { ActionMenu } from '../../design/menu.tsx'
import { Facts, Page, Panel } from '../../design/page.tsx'
import { Time, useNow } from '../../design/time.tsx'
import { say } from '../../design/toasts.tsx'
import { useOffered } from '../../router/offered.ts'
import { useCaller } from '../../session/caller.tsx'
import { Activity } from '../desk/activity.tsx'
import { Attributes } from '../desk/attributes.tsx'
import { ConfirmDelete } from '../desk/confirm-delete.tsx'
import { MoveRow } from '../desk/move-row.tsx'
import { CustomerLink, TeammateName } from '../desk/names.tsx'
import { type Booking, sayStatus, useAssignActions } from '../desk/objects.ts'
import { OneObject } from '../desk/one-object.tsx'
import { Prose } from '../desk/prose.tsx'
import { Tags } from '../desk/tags.tsx'
import { useChange } from '../desk/use-change.tsx'
import { BookingEdit } from './booking-form.tsx'
import { BookingStatus } from './booking-status.tsx'
import { moveBooking } from './calls.ts'
import { type AskedMove, MoveForm } from './move-form.tsx'
import { type BookingMove, becomes, bookingMoves } from './moves.ts'
import { Overlaps } from './overlaps.tsx'
import { sayMoment, sayWhen, sayWhenThere } from './when.ts'

const route = getRouteApi('/bookings/$id')

export function OneBooking() {
  const { id } = route.useParams()
  return (
    <OneObject kind="bookings" id={id} noun="Booking" trail={<Link to="/bookings">Bookings</Link>}>
      {(booking) => <Known key={id} booking={booking} />}
    </OneObject>
  )
}

/** Button and message of each move. */
const words: Readonly<Record<BookingMove, readonly [verb: string, done: string]>> = {
  confirm: ['Confirm', 'Booking confirmed'],
  reject: ['Reject', 'Booking rejected'],
  cancel: ['Cancel booking', 'Booking cancelled'],
  reschedule: ['Reschedule', 'Booking rescheduled'],
  complete: ['Complete', 'Booking completed'],
  'no-show': ['Mark as no-show', 'Booking marked as no-show'],
}

const asked: ReadonlySet<BookingMove> = new Set<AskedMove>(['reject', 'cancel', 'reschedule'])

function isAsked(move: BookingMove): move is AskedMove {
  return asked.has(move)
}

function Known({ booking }: { readonly booking: Booking }) {
  const { id, title, status, startAt, location, conversationId } = booking
  const { may } = useCaller()
  const navigate = route.useNavigate()
  const now = useNow()
  const moves = bookingMoves(booking, now)
  const [open, setOpen] = useState<AskedMove | 'edit' | 'delete' | null>(null)
  const [moving, setMoving] = useState<BookingMove | null>(null)
  const changing = useChange('bookings')
  const close = () => setOpen(null)

  /** A change of its status or times in between is a conflict. */
  function changeOf(base: Booking, move: BookingMove, body: object) {
    const { status, startAt, endAt } = base
    return {
      base,
      patch: { status: becomes[move] ?? status, startAt, endAt, ...body },
      action: {
        verb: words[move][0],
        write: (ifMatch: string) => moveBooking(id, move, body, ifMatch),
        isAllowed: (row: Booking) => bookingMoves(row, now).includes(move),
      },
      done: () => say(words[move][1]),
    }
  }
  async function makeAtOnce(move: BookingMove): Promise<void> {
    setMoving(move)
    await changing.put(changeOf(booking, move, {}))
    setMoving(null)
  }

  const mayWrite = may('bookings:write')
  const make = (move: BookingMove) => (isAsked(move) ? setOpen(move) : void makeAtOnce(move))
  useOffered(
    mayWrite
      ? [
          ...moves.map((move) => ({ title: words[move][0], run: () => make(move) })),
          { title: 'Edit', run: () => setOpen('edit') },
        ]
      : [],
  )
  useAssignActions(
    booking,
    mayWrite ? (assigneeId) => void changing.put({ base: booking, patch: { assigneeId } }) : null,
  )
  const there = sayWhenThere(booking)
  return (
    <Page
      title={title}
      trail={
        <Link to="/bookings" search={{ week: sayDay(new Date(startAt)) }}>
          Bookings
        </Link>
      }
      beside={<BookingStatus status={status} />}
      about={`${sayWhen(booking)} (${readersZone})`}
      actions={
        <>
          {mayWrite && <Button onClick={() => setOpen('edit')}>Edit</Button>}
          <ActionMenu
            calls={[
              { method: 'GET', path: `/v1/bookings/${id}` },
              ...(moves[0] === undefined || isAsked(moves[0])
                ? []
                : [{ method: 'POST', path: `/v1/bookings/${id}/${moves[0]}` } as const]),
            ]}
            actions={mayWrite ? [{ title: 'Delete', run: () => setOpen('delete'), isDangerous: true }] : []}
          />
        </>
      }
    >
      {mayWrite && (
        <MoveRow>
          {moves.map((move, n) => (
            <Button
              key={move}
              kind={n === 0 && !isAsked(move) ? 'primary' : 'plain'}
              isBusy={moving === move}
              onClick={() => make(move)}
            >
              {words[move][0]}
            </Button>
          ))}
        </MoveRow>
      )}
      <Overlaps of={booking} />
      <Panel title="Details">
        <Facts
          of={[
            ['Customer', <CustomerLink key="customer" id={booking.customerId} />],
            ['Assignee', <TeammateName key="assignee" id={booking.assigneeId} />],
            [`When (${readersZone})`, sayWhen(booking)],
            ...(booking.timezone === readersZone
              ? []
              : [[`In ${booking.timezone}`, there ?? 'Same time'] as const]),
            ['Location', location === null ? '–' : `${sayStatus(location.type)}: ${location.value}`],
            ...(booking.previousStartAt === null
              ? []
              : [
                  [
                    'Moved',
                    `${booking.rescheduleCount === 1 ? 'once' : `${booking.rescheduleCount} times`}, was ${sayMoment(booking.previousStartAt)}`,
                  ] as const,
                ]),
            ...(booking.cancelledBy === null
              ? []
              : [['Cancelled by', sayStatus(booking.cancelledBy)] as const]),
            ...(booking.cancellationReason === null
              ? []
              : [['Cancellation reason', booking.cancellationReason] as const]),
            ...(booking.rejectionReason === null
              ? []
              : [['Rejection reason', booking.rejectionReason] as const]),
            ...(conversationId === null
              ? []
              : [
                  [
                    'Conversation',
                    <Link key="conversation" to="/conversations/$id" params={{ id: conversationId }}>
                      View conversation
                    </Link>,
                  ] as const,
                ]),
            ...(booking.tags.length === 0 ? [] : [['Tags', <Tags key="tags" of={booking.tags} />] as const]),
            ['Created', <Time key="made" at={booking.createdAt} />],
            ['ID', <CopyText key="id" text={id} short />],
          ]}
        />
      </Panel>
      <Attributes of={booking.customAttributes} />
      <Panel title="Internal notes">
        <Prose text={booking.notes} none="No notes." />
      </Panel>
      <Activity of={booking} />
      {open === 'edit' && <BookingEdit booking={booking} close={close} />}
      {open === 'delete' && (
        <ConfirmDelete
          close={close}
          kind="bookings"
          noun="booking"
          row={booking}
          after={() => navigate({ to: '/bookings', search: { week: sayDay(new Date(startAt)) } })}
        >
          <p>
            <bdi>{title}</bdi> will be deleted permanently. To keep the record, cancel it instead.
          </p>
        </ConfirmDelete>
      )}
      {open !== null && open !== 'edit' && open !== 'delete' && (
        <MoveForm
          move={open}
          booking={booking}
          verb={words[open][0]}
          close={close}
          make={async (base, body) => {
            await changing.save(changeOf(base, open, body))
            close()
          }}
        />
      )}
      {changing.dialog}
    </Page>
  )
}
