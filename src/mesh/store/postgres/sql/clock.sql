-- The only function that reads the system clock.
CREATE OR REPLACE FUNCTION mesh_wall_clock() RETURNS bigint LANGUAGE sql VOLATILE
  RETURN floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;

-- Time of the store, Unix ms. Functions that decide about expiry of leases call it after they have locked their rows, so that the
-- times of consecutive epochs do not overlap.
CREATE OR REPLACE FUNCTION mesh_now() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN :now;
END $$;

-- Saves the time. After a leap, extends all leases and claims first.
CREATE OR REPLACE FUNCTION mesh_tick(is_first boolean) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  saved mesh_clock;
  wall bigint;
  t bigint;
  gap bigint;
BEGIN
  SELECT * INTO saved FROM mesh_clock FOR UPDATE;
  wall := mesh_wall_clock();
  t := greatest(wall + saved.ahead, saved.at);
  gap := t - saved.at;
  IF gap > (CASE WHEN is_first THEN 0 ELSE :leap_ms END) THEN
    UPDATE mesh_audit SET detail = jsonb_set(detail, '{expires_unix_ms}', to_jsonb((detail ->> 'expires_unix_ms')::bigint + gap))
      WHERE id IN (SELECT audit_id FROM mesh_exec_leases WHERE state = 'granted' AND expires_at > saved.at);
    UPDATE mesh_exec_leases SET expires_at = expires_at + gap WHERE state = 'granted' AND expires_at > saved.at;
    PERFORM FROM mesh_messages WHERE holder IS NOT NULL AND lease_expires > saved.at ORDER BY id FOR UPDATE;
    UPDATE mesh_messages SET lease_expires = lease_expires + gap WHERE holder IS NOT NULL AND lease_expires > saved.at;
  ELSE
    -- Approach the system time after it was set back.
    t := greatest(saved.at, t - least(greatest(t - wall, 0), gap / 20));
  END IF;
  UPDATE mesh_clock SET at = t, ahead = t - wall,
    untrusted_until = CASE WHEN gap > :leap_ms AND NOT is_first THEN t + :untrusted_ms ELSE untrusted_until END;
  RETURN t;
END $$;
