create type colour as enum ('red', 'green');

create table thing (id int primary key, colour colour not null);

-- Statements inside of a function must not be taken apart.
create function count_things() returns bigint language plpgsql as $$
begin
  perform 1;
  return (select count(*) from thing);
end
$$;
