"""Rules that ask: tools of web frameworks and database services that drop or empty a database."""

from __future__ import annotations

from echo_bot.policy.guards.shell.rules import DRY_RUN, Rule, rule

_TASKS = (
    "db:drop|db:reset|db:purge|db:drop:all|db:schema:load|db:rollback|db:wipe|migrate:fresh|migrate:reset|"
    "migrate:refresh|migrate:rollback|db:migrate:undo|db:migrate:undo:all|db:seed:undo:all|schema:drop|"
    "doctrine:database:drop|doctrine:schema:drop|doctrine:mongodb:schema:drop|ecto.drop|ecto.reset|"
    "ecto.rollback|migration:revert|migrate:down|db:truncate_all|db:migrate:reset|db:migrate:down"
)

RULES: tuple[Rule, ...] = (
    rule(
        "sql_destructive",
        "rails rake artisan sequelize sequelize-cli typeorm typeorm-ts-node-commonjs mix console ace "
        "drush adonis",
        "Drops or empties a database.",
        _TASKS,
        match=["rails db:drop", "rake db:reset", "mix ecto.drop"],
        not_match=["rails db:migrate", "rake -T", "mix test"],
    ),
    rule(
        "sql_destructive",
        "php bundle npx bunx yarn pnpm bin/rails symfony",
        "Drops or empties a database.",
        "artisan|exec|sequelize|sequelize-cli|typeorm|bin/console|console|rails|rake|* " + _TASKS,
        match=["php artisan migrate:fresh", "npx sequelize db:drop"],
        not_match=["php artisan migrate", "yarn test"],
    ),
    rule(
        "sql_destructive",
        "python python3 django-admin manage.py",
        "Drops or empties a database.",
        "manage.py|./manage.py flush|reset_db|truncate",
        match=["python manage.py flush"],
        not_match=["python manage.py migrate"],
    ),
    rule(
        "sql_destructive",
        "django-admin manage.py",
        "Drops or empties a database.",
        "flush|reset_db",
        match=["django-admin flush"],
        not_match=["django-admin check"],
    ),
    rule(
        "sql_destructive",
        "prisma",
        "Drops or empties a database.",
        "migrate reset",
        match=["prisma migrate reset"],
        not_match=["prisma migrate status"],
    ),
    rule(
        "sql_destructive",
        "prisma",
        "Drops or empties a database.",
        "db push",
        "force-reset accept-data-loss",
        match=["prisma db push --force-reset"],
        not_match=["prisma db push", "prisma db pull"],
    ),
    rule(
        "sql_destructive",
        "npx bunx yarn pnpm",
        "Drops or empties a database.",
        "prisma migrate reset",
        match=["npx prisma migrate reset --force"],
        not_match=["npx prisma generate"],
    ),
    rule(
        "sql_destructive",
        "alembic flask knex goose flyway liquibase dbmate migrate diesel sqlx sea-orm-cli atlas aerich",
        "Takes a database's schema back.",
        "downgrade|clean|drop|dropall|drop-all|down|rollback|reset|down-to|migrate:rollback|fresh",
        unless=DRY_RUN,
        match=["alembic downgrade base", "flyway clean", "dbmate drop", "migrate drop"],
        not_match=["alembic upgrade head", "flyway info", "goose status"],
    ),
    rule(
        "sql_destructive",
        "flask diesel sqlx sea-orm-cli liquibase atlas",
        "Takes a database's schema back.",
        "db|database|migrate|migration|schema downgrade|drop|reset|revert|down|fresh|clean|refresh",
        unless=DRY_RUN,
        match=["flask db downgrade", "sqlx database drop", "diesel database reset"],
        not_match=["flask db upgrade", "sqlx database create"],
    ),
    rule(
        "sql_destructive",
        "wp",
        "Drops or empties a database.",
        "db|site reset|drop|clean|empty|delete",
        match=["wp db reset --yes"],
        not_match=["wp db export"],
    ),
    rule(
        "sql_destructive",
        "drush",
        "Drops or empties a database.",
        "sql-drop|sql:drop|site-install|si",
        match=["drush sql-drop -y"],
        not_match=["drush status"],
    ),
    rule(
        "sql_destructive",
        "turso pscale neonctl neon planetscale atlas supabase xata",
        "Deletes a database.",
        "db|database|branch|branches|databases|projects|clusters|cluster destroy|delete|reset|terminate|drop",
        match=["turso db destroy x", "pscale database delete x"],
        not_match=["turso db list"],
    ),
    rule(
        "sql_destructive",
        "bq",
        "Deletes a data set or a table.",
        "rm|truncate",
        match=["bq rm -f d.t"],
        not_match=["bq ls"],
    ),
    rule(
        "sql_destructive",
        "nodetool kafka-topics kafka-topics.sh rabbitmqadmin rabbitmqctl",
        "Deletes stored data.",
        "clearsnapshot|removenode|decommission|delete|purge|reset|force_reset|purge_queue|delete_queue|"
        "delete_vhost|delete_user",
        match=["rabbitmqctl reset", "nodetool decommission"],
        not_match=["rabbitmqctl status", "nodetool info"],
    ),
    rule(
        "sql_destructive",
        "kafka-topics kafka-topics.sh kafka-delete-records kafka-delete-records.sh",
        "Deletes stored data.",
        flags="delete offset-json-file",
        match=["kafka-topics.sh --bootstrap-server h:9092 --delete --topic t"],
        not_match=["kafka-topics.sh --list"],
    ),
)
