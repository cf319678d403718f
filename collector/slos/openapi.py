"""Service level objectives: targets, error budgets and burn rates."""

from collector.http.openapi.models import answer, request
from collector.http.openapi.parts import PAGED, Operation, page
from collector.slos import answers
from collector.slos.core.settings import Indicator, SloSettings

TAG = "SLOs"
_ANSWER = answer(answers.SloAnswer, "Slo", ((Indicator, "SloIndicator"),))
_SLO = {"name": "Checkout", "target": 99.9, "period": "30d", "tags": {"service": "checkout"}}

OPERATIONS: dict[str, Operation] = {
    "GET /v1/slos": Operation(
        summary="List SLOs with their error budgets", answer=page(_ANSWER), query=PAGED
    ),
    "POST /v1/slos": Operation(
        summary="Create an SLO",
        status=201,
        answer=_ANSWER,
        body=request(SloSettings, "CreateSloRequest", names=((Indicator, "CreateSloIndicator"),)),
        example=_SLO,
    ),
    "GET /v1/slos/{id}": Operation(
        summary="Read an SLO, its error budget and its burn rates", answer=_ANSWER, tagged=True
    ),
    "PUT /v1/slos/{id}": Operation(
        summary="Update the fields that are sent",
        answer=_ANSWER,
        body=request(SloSettings, "UpdateSloRequest", deep=True, names=((Indicator, "UpdateSloIndicator"),)),
        example={"target": 99.5},
        tagged=True,
        needs_body=False,
    ),
    "DELETE /v1/slos/{id}": Operation(summary="Delete an SLO", status=204, tagged=True),
}
