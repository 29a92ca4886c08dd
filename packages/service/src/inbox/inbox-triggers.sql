-- The triggers that keep the inbox.

create trigger inbox_new after insert on conversations for each row
  when (current_setting('deskwire.copying', true) is distinct from 'on')
  execute function inbox_conversation();

create trigger inbox_changed after update on conversations for each row
  when ((old.status, old.assignee_id, old.removed_at) is distinct from (new.status, new.assignee_id, new.removed_at)
    and current_setting('deskwire.copying', true) is distinct from 'on')
  execute function inbox_conversation();

create trigger inbox_new after insert on messages for each row
  when (current_setting('deskwire.copying', true) is distinct from 'on')
  execute function inbox_message();

create trigger inbox_removed after update on messages
  referencing old table as before_rows new table as after_rows for each statement
  when (current_setting('deskwire.copying', true) is distinct from 'on')
  execute function inbox_removed_messages();
