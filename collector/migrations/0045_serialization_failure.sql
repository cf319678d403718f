-- Lets a statement that is a transaction of its own roll itself back, to be tried again.

CREATE FUNCTION serialization_failure(reason text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RAISE serialization_failure USING MESSAGE = reason;
END
$$;
