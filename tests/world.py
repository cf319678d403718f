"""A team to which everything has happened once: what pages, feeds and answers are tried on.

Everything that the product does by itself is done by its own parts: the API makes, the writer judges what a
probe brings, the router and the rules notify, the sender delivers. Rows are dated back: no time passes.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Final

from collector.accounts.service import password_links, users
from collector.alerts.jobs.watch import Watch
from collector.demo.simulation import deciding_jobs, exhaust
from collector.evaluation.ingest.pushes import Pushes
from collector.evaluation.jobs.resolved_while_down import IncidentReopener
from collector.evaluation.writer import Submission
from collector.heartbeats.ingest import PingReceiver
from collector.heartbeats.jobs import heartbeats as late
from collector.history.jobs.rollups import Rollups
from collector.monitors.service.receivers import key_hash
from collector.notifications.jobs.channel_alarms import ChannelAlarms
from collector.notifications.jobs.sender import Sender
from collector.notifications.service import outside_mails
from collector.overview.service import wall_links
from collector.platform.access import Actor
from collector.platform.mailer import Mailer
from collector.platform.storage.db import Db
from collector.probes.jobs.watch import ProbeWatch
from collector.probes.service import assignments
from collector.status_pages.core import links as statuspage_links
from collector.status_pages.service.subscribers import opened_link_key
from shared import ids
from shared.clock import iso, utc_now
from shared.evidence import Evidence
from shared.kinds import KINDS, TYPES
from shared.kinds.tls import Expiry
from shared.phases import pack
from shared.results import Phases, Status
from tests.clocks import GivenClock
from tests.evaluation.world import World, new_incarnation, writing
from tests.http.client import Answer, Api
from tests.http.route_table import joined
from tests.metrics.senders import Metrics, running
from tests.monitors.declared import everything
from tests.monitors.monitors import probe
from tests.notifications.channels.every import config as channel_config
from tests.receiver import Receiver, answer, receiving
from tests.remote_write import first, named
from tests.reports.history import several
from tests.status_pages.core.test_pictures import OPENED, data
from tests.web3.ground import log, raised, recovered

UP, DOWN, UNKNOWN = Status.UP, Status.DOWN, Status.UNKNOWN
LOCATIONS: Final = ("eu", "us", "asia")
ERROR: Final = "connect: refused by 192.0.2.1:443"
NEARS: Final = "tls: certificate expires in 9 days, 14 are wanted"
SAW: Final = Evidence("192.0.2.1:443", (("Server", "shop"),), "no space left")
PHASES: Final = pack(Phases(dns_us=1_200, connect_us=8_100, tls_us=19_700, first_byte_us=31_500))
PASSWORD: Final = "a long enough password"
LOGO: Final = f'{OPENED}<rect width="8" height="8"/></svg>'.encode()


@dataclass(slots=True)
class Everything:
    """*monitors*, *channels*, ... : public ids by the names that stand in this file."""

    api: Api
    metrics: Metrics
    hook: Receiver
    probes: World
    monitors: dict[str, str] = field(default_factory=dict)
    channels: dict[str, str] = field(default_factory=dict)
    incidents: dict[str, str] = field(default_factory=dict)
    rules: dict[str, str] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    windows: dict[str, str] = field(default_factory=dict)
    templates: dict[str, str] = field(default_factory=dict)
    slos: dict[str, str] = field(default_factory=dict)
    reports: dict[str, str] = field(default_factory=dict)
    editions: list[str] = field(default_factory=list)
    alerts: dict[str, str] = field(default_factory=dict)
    joined: dict[str, str] = field(default_factory=dict)
    users: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    parts: dict[str, list[str]] = field(default_factory=dict)

    @property
    def db(self) -> Db:
        return self.api.context.db

    async def made(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What a POST answers that goes well."""
        return _well(await self.api.post(path, body))

    async def put(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return _well(await self.api.put(path, body))

    async def monitor(self, name: str, type_: str = "http", **more: Any) -> str:
        await self.alive()
        url = f"https://{name.lower().replace(' ', '-')}.example.com/"
        config = {"url": url} if type_ == "http" else {}
        body = {"name": name, "type": type_, "config": config, "locations": [*LOCATIONS], **more}
        self.monitors[name] = str((await self.made("/v1/monitors", body))["id"])
        return self.monitors[name]

    async def check(self, name: str, *statuses: Status, where: Sequence[str] = LOCATIONS) -> None:
        """Results of one monitor at each location, the newest a moment ago."""
        await self.submit(*(self.batch(name, *statuses, where=text) for text in where))

    def batch(self, name: str, *statuses: Status, where: str = "eu", error: str = ERROR) -> Submission:
        number = next(n for n, id_ in self.probes.ids.items() if id_ == ids.read("mon", self.monitors[name]))
        made = self.probes.batch(*statuses, monitor=number, location=where, error=error)
        failed = {i: SAW for i, status in enumerate(statuses) if status is DOWN}
        told = replace(made.batch, evidence=failed, phases=[PHASES] * len(statuses))
        return replace(made, batch=told)

    async def submit(self, *batches: Submission) -> None:
        await self.alive()
        watch = Watch(self.db)
        await watch.turn()
        async with writing(self.probes, now=self.api.clock, watch=watch) as writer:
            await asyncio.gather(*(writer.submit(submission) for submission in batches))

    async def alive(self) -> None:
        """The probe is heard: only to one that is are monitors given."""
        sql = "UPDATE probes SET seen_at = now() WHERE probe_id = $1"
        await self.probes.run(sql, self.probes.probe_id)

    async def learn(self) -> None:
        """Give the probe all that it should check, and read what that is."""
        await self.alive()
        async with self.db.transaction() as tx:
            await assignments.rebalance(tx, self.api.clock())
        world = self.probes
        rows = await world.fetch(
            """
            SELECT m.monitor, m.id, s.location, l.name, s.assignment FROM monitors m
            JOIN states s USING (monitor) JOIN locations l USING (location) WHERE s.probe_id = $1
            """,
            world.probe_id,
        )
        world.ids = {row["monitor"]: row["id"] for row in rows}
        world.monitors = sorted(world.ids)
        world.locations = {row["name"]: row["location"] for row in rows}
        world.assignments = {(row["monitor"], row["location"]): row["assignment"] for row in rows}

    async def settle(self) -> None:
        """Until nobody has anything to do at this moment."""
        jobs = deciding_jobs(self.db, GivenClock(self.api.clock))
        for _ in range(3):
            await exhaust(jobs)

    async def deliver(self) -> None:
        """Every delivery that is due gets its next try."""
        own = self.api.context
        sender = Sender(self.db, own.keyring, own.transport, public_url=own.public_url, now=self.api.clock)
        try:
            before, stands = None, await self._tries()
            while stands != before:
                await sender.turn()
                await asyncio.sleep(0.1)
                before, stands = stands, await self._tries()
        finally:
            await sender.close()

    async def _tries(self) -> Any:
        return await self.probes.value(
            "SELECT (count(*), count(*) FILTER (WHERE leased), sum(attempt), sum(status)) FROM deliveries"
        )

    async def newest_incident(self, name: str) -> str:
        found = (await self.api.get(f"/v1/incidents?monitor_id={self.monitors[name]}")).json["data"]
        self.incidents[name] = str(found[0]["id"])
        return self.incidents[name]


@asynccontextmanager
async def everything_happened(api: Api) -> AsyncIterator[Everything]:
    """The world, and a server with it; its API client holds an admin's token."""
    async with receiving() as hook, running(api) as metrics:
        hook.always = answer(200, body=b'{"ok": true, "status": "success"}')
        here = metrics.api
        probe_id = await probe(
            here, *LOCATIONS, "local", kinds=sorted(KINDS), version="0.1.0", name="Frankfurt",
            vitals={"blind": False},
        )  # fmt: skip
        probes = World(here.context.db, here.team_id, probe_id, 1, [], {}, {})
        await new_incarnation(probes, 7)
        there = Everything(here, metrics, hook, probes)
        for step in _STEPS:
            await step(there)
        yield there


def _well(answered: Answer) -> dict[str, Any]:
    assert answered.status < 300, answered.body
    return dict(answered.json) if answered.body else {}


def _nobody() -> None:
    """Does nothing."""


async def _people(here: Everything) -> None:
    for role in ("admin", "editor", "viewer"):
        asked = {"email": f"the-{role}@example.com", "name": role, "role": role}
        invited = await here.made("/v1/users", asked)
        here.users[role] = str(invited["id"])
        here.links[f"invite {role}"] = str(invited["invitationUrl"]).rpartition("/")[2]
    context, now = here.api.context, here.api.clock()
    admin = await users.accept(context.db, here.links.pop("invite admin"), PASSWORD, now)
    who = Actor(here.api.team_id, None, "Somebody")
    here.links["reset"] = (await password_links.make(context.db, who, admin.id, now))[1]
    here.links["setup"] = await password_links.first(context.db, here.api.team_id, here.api.user_id, now)
    await here.probes.run(
        "UPDATE users SET invited_until = now() - interval '1 day' WHERE email = 'the-viewer@example.com'"
    )
    wall = await wall_links.create(context.db, who, {"name": "Lobby"}, now)
    here.links["wall"] = wall.secret
    for permission in ("read-only", "read-write", "admin"):
        asked = {"name": f"{permission} robot", "permission": permission, "expiresIn": "30d"}
        made = await here.made("/v1/tokens", asked)
        here.keys[permission] = str(made["token"])
    over = await here.made("/v1/tokens", {"name": "over", "permission": "read-only"})
    await here.probes.run(
        "UPDATE tokens SET expires_at = now() - interval '1 day' WHERE id = $1", ids.read("tok", over["id"])
    )
    gone = await here.made("/v1/tokens", {"name": "revoked", "permission": "read-only"})
    assert (await here.api.delete(f"/v1/tokens/{gone['id']}")).status == 204


async def _probes(here: Everything) -> None:
    """One lost, one blind, one drained, one revoked, one that never came; and tokens to join by."""
    for name in ("drain", "revoke"):
        text = ids.show("prb", await joined(here.api))
        assert (await here.api.post(f"/v1/probes/{text}/{name}")).status < 300
    await here.made("/v1/probe-tokens", {"location": "eu"})
    over = await here.made("/v1/probe-tokens", {"location": "us"})
    await here.probes.run(
        "UPDATE join_tokens SET expires_at = now() - interval '1 day' WHERE id = $1",
        ids.read("tok", over["id"]),
    )
    lost = {"team_id": here.api.team_id, "seen_at": utc_now() - timedelta(minutes=10)}
    await probe(here.api, "oslo", name="Lost", session=2, **lost)
    await probe(here.api, "oslo", name="Back", session=4, **lost)
    await probe(here.api, "rome", name="Blind", session=3, team_id=here.api.team_id, blind_since=utc_now())
    ago = timedelta(minutes=5)
    started_at = utc_now() - timedelta(hours=1)
    watch = ProbeWatch(here.db, GivenClock(lambda: here.api.clock() - ago, lambda: started_at))
    while ago >= timedelta():
        await watch.turn()
        ago -= timedelta(seconds=20)
    await here.probes.run("UPDATE probes SET seen_at = now(), connected_at = now() WHERE name = 'Back'")
    ago = timedelta()
    await watch.turn()


async def _channels(here: Everything) -> None:
    """One of each type, most of them heard by the receiver; one that fails, one that is off."""
    for type_ in ("email", "slack", "discord", "telegram", "pagerduty", "opsgenie", "webhook", "apprise"):
        config = channel_config(type_, here.hook.url("").rstrip("/"))
        if type_ == "webhook":
            config["events"] = ["*"]
        made = await here.made("/v1/alert-channels", {"name": f"To {type_}", "type": type_, "config": config})
        here.channels[type_] = str(made["id"])
    [(_, secret), *_] = await outside_mails.due(here.db, 10)
    here.links["confirm"] = secret
    for name, more in {"failed": {"maxRetries": 0}, "waiting": {}, "off": {}}.items():
        config = {"url": "http://127.0.0.1:9/", **more}
        made = await here.made("/v1/alert-channels", {"name": name, "type": "webhook", "config": config})
        here.channels[name] = str(made["id"])
    await here.put(f"/v1/alert-channels/{here.channels['off']}", {"enabled": False})


async def _declared(here: Everything) -> None:
    """A monitor of each type, as a file declares them; nothing was ever measured of most."""
    wanted = everything()
    wanted = {name: wanted[name] for name in ("monitors", "maintenanceWindows", "statusPages")}
    await here.made("/v1/apply", wanted)
    listed = (await here.api.get("/v1/monitors?limit=100")).json["data"]
    of_type = {item["name"]: item["id"] for item in listed}
    here.monitors |= {type_: of_type[f"Of type {type_}"] for type_ in TYPES}


async def _monitors(here: Everything) -> None:
    for name in (
        "Shop",
        "Checkout",
        "Search",
        "Legacy",
        "Flapper",
        "Edge",
        "Blindfold",
        "Dazed",
        "Paused",
        "Gone",
    ):
        await here.monitor(name, tags={"team": "shop", "critical": ""}, description="What it is", group="Web")
    for name in ("Quiet", "Hushed", "Upgraded", "Fresh"):
        await here.monitor(name, runbookUrl="https://wiki.example.com/")
    await here.monitor("Child", dependsOn=[here.monitors["Checkout"]])
    await here.monitor("Certificate", "tls", config={"domain": "example.com"}, severity="low")
    await here.made(f"/v1/monitors/{here.monitors['Quiet']}/silence", {"duration": 3600})
    await here.made(f"/v1/monitors/{here.monitors['Hushed']}/silence", {"duration": 3600, "reason": "works"})
    await here.probes.run("UPDATE monitors SET updated_at = updated_at - interval '1 day'")
    await here.learn()


async def _rules(here: Everything) -> None:
    channels = [here.channels[name] for name in ("slack", "email", "waiting", "failed", "pagerduty")]
    policy = {
        "delayMinutes": 1,
        "escalateToChannels": [here.channels["opsgenie"]],
        "maxEscalations": 2,
    }
    some = [here.monitors["Shop"], here.monitors["Search"]]
    wanted: dict[str, dict[str, Any]] = {
        "Anything": {"channels": channels, "escalationPolicy": policy},
        "Slow": {"conditions": {"latencyThresholdMs": 1, "consecutiveFailures": 1}, "channels": channels},
        "Rate": {"conditions": {"errorRatePercent": 10, "availability": 99.9, "match": "all"}},
        "Teapot": {"conditions": {"statusCode": 418}, "monitors": some, "tags": ["team:shop"]},
        "Off": {"enabled": False, "notifyOnRecovery": False, "repeatMinutes": 5},
    }
    for name, fields in wanted.items():
        here.rules[name] = str((await here.made("/v1/alert-rules", {"name": name, **fields}))["id"])


async def _results(here: Everything) -> None:
    """Outages of each kind, with whatever came after."""
    good = [name for name in here.monitors if name not in ("Fresh", "Blindfold", "Dazed", *TYPES)]
    await here.submit(*(here.batch(name, UP, where=where) for name in good for where in LOCATIONS))
    down = ("Checkout", "Shop", "Search", "Legacy", "Paused", "Gone", "Quiet", "Child")
    await here.submit(
        *(here.batch(name, DOWN, DOWN, DOWN, where=where) for name in down for where in LOCATIONS),
        here.batch("Edge", DOWN, DOWN, DOWN, where="us"),
    )
    await here.probes.run(
        "UPDATE monitors SET degraded_since = now() - interval '1 minute' WHERE degraded_since IS NOT NULL"
    )
    for name in ("Blindfold", "Dazed"):
        await here.check(name, UNKNOWN, UNKNOWN, UNKNOWN)
    for _ in range(5):
        await here.check("Flapper", DOWN, DOWN, DOWN)
        await here.check("Flapper", UP)
    expiry = Expiry(only_near=True, ends=int((utc_now() + timedelta(days=9)).timestamp())).pack()
    near = here.batch("Certificate", DOWN, DOWN, DOWN, error=NEARS)
    await here.submit(replace(near, batch=replace(near.batch, state=dict.fromkeys(range(3), expiry))))
    await here.settle()
    await here.deliver()
    await here.probes.run(
        "UPDATE alerts SET notified_at = notified_at - interval '2 minutes', due_at = now()"
        " WHERE due_at > now()"
    )
    await here.settle()
    for name in ("Shop", "Dazed"):
        await here.check(name, UP)
    await here.settle()
    await here.deliver()


async def _by_hand(here: Everything) -> None:
    """What people do: acknowledge, note, resolve, reopen, raise, pause."""
    search, legacy = await here.newest_incident("Search"), await here.newest_incident("Legacy")
    for name in ("Checkout", "Shop", "Paused", "Child"):
        await here.newest_incident(name)
    await here.made(f"/v1/incidents/{search}/acknowledge")
    await here.made(f"/v1/incidents/{search}/notes", {"text": "Looking into it.\n\nA disk is full."})
    await here.made(f"/v1/incidents/{legacy}/resolve", {"resolutionNote": "Switched off"})
    await here.probes.run(
        "UPDATE incidents SET resolved_at = now() - interval '11 minutes' WHERE id = $1",
        ids.read("inc", legacy),
    )
    await IncidentReopener(here.db, clock=GivenClock(here.api.clock)).turn()
    for name, actions in {
        "by hand": (),
        "done": ("acknowledge", "resolve"),
        "again": ("resolve", "reopen"),
    }.items():
        body = {"title": f"Raised {name}", "description": "Customers call", "severity": "low"}
        here.incidents[name] = str((await here.made("/v1/incidents", body))["id"])
        for action in actions:
            await here.made(f"/v1/incidents/{here.incidents[name]}/{action}", {})
    attached = {"title": "Attached", "monitorId": here.monitors["Fresh"]}
    here.incidents["attached"] = str((await here.made("/v1/incidents", attached))["id"])
    await here.put(f"/v1/incidents/{here.incidents['attached']}", {"severity": "high"})
    for name, actions in {"Paused": ("pause",), "Fresh": ("pause", "resume")}.items():
        for action in actions:
            await here.made(f"/v1/monitors/{here.monitors[name]}/{action}")
    await here.put(f"/v1/monitors/{here.monitors['Search']}", {"description": "Finds things"})
    alerts = (await here.api.get("/v1/alerts?limit=100")).json["data"]
    free = [alert for alert in alerts if alert["incidentId"] is None and alert["status"] == "firing"]
    for alert, action in zip(free, ("acknowledge", "resolve"), strict=False):
        await here.made(f"/v1/alerts/{alert['id']}/{action}")


async def _windows(here: Everything) -> None:
    """Under way over a monitor that is down, coming, over, repeated, off."""
    now = here.api.clock()
    upgraded = {"monitors": [here.monitors["Upgraded"]]}
    for name, fields in {
        "under way": {**upgraded, "start": iso(now - timedelta(minutes=5)), "duration": 3600},
        "coming": {"all": True, "start": iso(now + timedelta(days=1)), "duration": 60},
        "over": {"tags": ["nobody"], "start": iso(now - timedelta(minutes=5)), "duration": 3600},
        "nightly": {
            "tags": {"team": "shop"},
            "start": iso(now + timedelta(hours=12)),
            "duration": 60,
            "rrule": "FREQ=DAILY",
        },
        "off": {"all": True, "start": iso(now + timedelta(days=2)), "duration": 60, "enabled": False},
    }.items():
        made = await here.made("/v1/maintenance-windows", {"name": name, **fields})
        here.windows[name] = str(made["id"])
    await here.settle()
    await here.made(f"/v1/maintenance-windows/{here.windows['over']}/end")
    await here.check("Upgraded", DOWN, DOWN, DOWN)
    await here.settle()


async def _reports(here: Everything) -> None:
    here.reports, here.editions = await several(here.api)


async def _receivers(here: Everything) -> None:
    """Jobs that reported well, badly, late or never; metrics that came and that did not."""
    pushes = Pushes(here.db, clock=GivenClock(here.api.clock, lambda: utc_now() - timedelta(hours=1)))
    taking = PingReceiver(here.db, pushes, clock=GivenClock(here.api.clock))
    for name in ("Good job", "Bad job", "Late job"):
        body = {"config": {"expectedInterval": 3600, "gracePeriod": "5m"}}
        key = await _key(here, await here.monitor(name, "heartbeat", **body))
        here.keys[name] = key
        for sign in ("/start", "", "/log"):
            assert (await here.api.post(f"/ping/{key}{sign}?rid=1", b"backed up 3 GB")).status == 200
    assert (await here.api.post(f"/ping/{here.keys['Bad job']}/3", b"disk full")).status == 200
    await here.monitor("Nightly job", "heartbeat", config={"cron": "0 3 * * *", "timezone": "Europe/Berlin"})
    await here.probes.run(
        "UPDATE heartbeats SET due_at = now() - interval '1 minute' WHERE key_hash = $1",
        key_hash(here.keys["Late job"]),
    )
    await late.HeartbeatSweeper(
        here.db, taking, clock=GivenClock(here.api.clock, lambda: utc_now() - timedelta(hours=1))
    ).turn()
    node = await here.metrics.make()
    here.monitors["Metrics"] = node
    sample = (named("up", job="node", instance="web-1"), here.metrics.ms(), 1.0)
    assert (await here.metrics.push(node, first(sample))).status == 204
    await here.metrics.receiving.keeping()
    here.monitors["Metrics, none"] = await here.metrics.make("opentelemetry", otlpProtocol="http")
    await here.settle()


async def _chains(here: Everything) -> None:
    """Thresholds that are crossed, or no more; events that were found, and one that was taken back."""
    await here.learn()
    gas, events = here.monitors["gas_price"], here.monitors["web3_contract_event"]
    whale = here.monitors["whale_wallet"]
    nameless: dict[str, Any] = {"name": None, "args": None}
    for id_, finds in (
        (gas, [raised(), raised("low_gas", message=None)]),
        (gas, [recovered("low_gas")]),
        (events, [log("first", 1), log("second", 2, index=3, **nameless), log("third", 3, error="odd data")]),
        (whale, [raised("large_balance_change"), log("fourth", 4, alert={"message": "100 ETH left"})]),
    ):
        number = next(n for n, one in here.probes.ids.items() if one == ids.read("mon", id_))
        where = next(
            name
            for name, location in here.probes.locations.items()
            if (number, location) in here.probes.assignments
        )
        made = here.probes.batch(UP, monitor=number, location=where)
        batch = replace(made.batch, found={0: finds}, state={0: b'{"raised":[]}'})
        await here.submit(replace(made, batch=batch))
    await here.probes.run("UPDATE web3_logs SET removed_at = now() WHERE block = 2")
    await here.settle()


async def _pages(here: Everything) -> None:
    """A status page of each visibility, with incidents at each stage and subscribers."""
    shown = ("Shop", "Checkout", "Edge", "Upgraded", "Fresh", "Paused", "Good job")
    components = [
        {"name": name, "monitorId": here.monitors[name], "group": group, "description": "For all"}
        for name, group in zip(shown, ("Web", "Web", None, None, "Core", None, None), strict=True)
    ]
    body = {
        "components": [*components, {"name": "Held"}],
        "branding": {"customCss": "h1 { color: red }", "logo": data(LOGO, "image/svg+xml")},
    }
    for visibility in ("public", "private", "unlisted"):
        slug = {"name": f"A {visibility} page", "slug": visibility, "visibility": visibility}
        password = {"password": PASSWORD} if visibility == "private" else {}
        made = await here.made("/v1/status-pages", {**body, **slug, **password})
        here.pages[visibility] = str(made["id"])
    shut = await here.made("/v1/status-pages", {"name": "Shut", "slug": "shut", "visibility": "private"})
    here.pages["shut"] = str(shut["id"])
    page = (await here.api.get(f"/v1/status-pages/{here.pages['public']}")).json
    path, parts = f"/v1/status-pages/{page['id']}", [component["id"] for component in page["components"]]
    await here.put(f"{path}/components/{parts[-1]}", {"status": "major_outage", "statusMessage": "By hand"})
    for at, severity in enumerate(("none", "minor", "major", "critical")):
        stage = ("investigating", "identified", "monitoring", "resolved")[at]
        said = {"title": f"A {severity} one", "severity": severity, "message": "We look **into** it."}
        made = await here.made(f"{path}/incidents", {**said, "affectedComponents": parts[: at + 1]})
        told = {"status": stage, "message": "So it is now.\n\nReally."}
        await here.put(f"{path}/incidents/{made['id']}", told)
    await _planned(here, path, parts)
    for severity in ("minor", "maintenance"):
        words = {"title": "About {component}", "message": "{component} of {page}, {began}, {lasted}."}
        made = await here.made("/v1/incident-templates", {"name": severity, "severity": severity, **words})
        here.templates[severity] = str(made["id"])
    here.slos["web"] = str((await here.made("/v1/slos", {"name": "W", "target": 99, "groups": ["W"]}))["id"])
    await _subscribers(here, path, parts)
    for kind in ("components", "incidents", "subscribers"):
        listed = (await here.api.get(f"{path}/{kind}?limit=100")).json["data"]
        here.parts[kind] = [str(item["id"]) for item in listed]


async def _planned(here: Everything, path: str, parts: list[str]) -> None:
    now = here.api.clock()
    spans = (("Over", 120, 60), ("Under way", 30, 60), ("Coming", -60, 60), ("Open end", 30, 0))
    for name, ago, length in spans:
        start = now - timedelta(minutes=ago)
        times = {"scheduledStart": iso(start)}
        times |= {"scheduledEnd": iso(start + timedelta(minutes=length))} if length else {}
        said = {"title": name, "severity": "maintenance", "message": "An upgrade"}
        answered = await here.api.post(
            f"{path}/incidents", {**said, **times, "affectedComponents": parts[:1]}
        )
        assert answered.status == 201, answered.body
    await here.settle()


async def _subscribers(here: Everything, path: str, parts: list[str]) -> None:
    for email in ("one@example.com", "two@example.com"):
        one = await here.made(f"{path}/subscribers", {"email": email})
        here.links[email] = str(one["id"])
    hook = {"webhookUrl": "https://hooks.example.com/status", "components": parts[:1]}
    nothing = {"preferences": {"incidents": False, "maintenance": False}}
    await here.made(f"{path}/subscribers", {**hook, **nothing})
    await here.probes.run("UPDATE status_subscribers SET verified_at = now() WHERE email = 'one@example.com'")
    for row in await here.probes.fetch("SELECT id, email, sealed_link_key AS sealed FROM status_subscribers"):
        key = opened_link_key(here.api.context.keyring, here.api.team_id, row["id"], row["sealed"], None)
        here.links[f"manage {row['email']}"] = statuspage_links.managing(key, row["id"])
        here.links[f"confirm {row['email']}"] = statuspage_links.confirming(key, row["id"], here.api.clock())


async def _news(here: Everything) -> None:
    """Notifications arrive, fail or wait, with notes; channels are flagged; hours are rolled up."""
    await here.deliver()
    await here.probes.run(
        "UPDATE delivery_attempts SET note = 'the chat is now 7: change chatId' WHERE status_code = 200"
        " AND delivery_id IN (SELECT id FROM deliveries ORDER BY id LIMIT 5)"
    )
    await here.probes.run("UPDATE channel_faults SET failing_since = now() - interval '2 hours' ")
    await ChannelAlarms(here.db, now=here.api.clock).turn()
    await here.settle()
    for _ in range(3):
        await Rollups(here.db, clock=GivenClock(here.api.clock)).turn()


async def _deleted(here: Everything) -> None:
    """A monitor, a rule and a channel go; what they did stays."""
    await here.newest_incident("Gone")
    for path in (
        f"/v1/monitors/{here.monitors.pop('Gone')}",
        f"/v1/alert-rules/{here.rules.pop('Slow')}",
        f"/v1/alert-channels/{here.channels.pop('discord')}",
    ):
        assert (await here.api.delete(path)).status == 204, path
    await here.settle()
    here.api.context.transport.mailer = Mailer("smtp://127.0.0.1:9", "status@example.com")
    await here.alive()
    for name, table in (("alerts", here.alerts), ("probes", here.joined)):
        listed = (await here.api.get(f"/v1/{name}?limit=100")).json["data"]
        table.update({item["id"]: item["id"] for item in listed})


async def _key(here: Everything, id_: str) -> str:
    return str((await here.api.get(f"/v1/monitors/{id_}")).json["config"]["pingUrl"]).rpartition("/")[2]


_STEPS: Final = (
    _people,
    _probes,
    _channels,
    _declared,
    _monitors,
    _rules,
    _results,
    _by_hand,
    _windows,
    _receivers,
    _chains,
    _pages,
    _reports,
    _news,
    _deleted,
)
