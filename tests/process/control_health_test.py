#!/usr/bin/env python3
"""Health and reflection of the control service, as any gRPC client uses them: without generated code."""
import support.grpc_python  # first: may start this test again in another Python
import grpc
from google.protobuf import descriptor_pool, message_factory
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from support.control_daemon import ControlDaemon
from support.process_case import ProcessCase, main
from support.programs import PATIENCE

SERVICE = "echoline.v1.Control"
NOT_SERVING, SERVING = health_pb2.HealthCheckResponse.NOT_SERVING, health_pb2.HealthCheckResponse.SERVING


def channel_to(daemon):
    return grpc.insecure_channel(f"unix:{daemon.socket}")


def health(channel, service=""):
    stub = health_pb2_grpc.HealthStub(channel)
    return stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=PATIENCE, wait_for_ready=True).status


class ControlHealth(ProcessCase):
    def test_it_is_not_serving_until_all_streams_are_open(self):
        daemon = self.unstarted(ControlDaemon(read=", throttle: {latency: 3s}")).spawn()
        with channel_to(daemon) as channel:
            for service in ("", SERVICE):
                self.assertEqual(health(channel, service), NOT_SERVING)
            daemon.await_ready()
            for service in ("", SERVICE):
                self.assertEqual(health(channel, service), SERVING)
            with self.assertRaises(grpc.RpcError) as unknown:
                health(channel, "echoline.v1.Unknown")
            self.assertEqual(unknown.exception.code(), grpc.StatusCode.NOT_FOUND)

    def test_a_watch_reports_that_the_daemon_stops(self):
        with ControlDaemon() as daemon, channel_to(daemon) as channel:
            watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(), timeout=PATIENCE)
            self.assertEqual(next(watch).status, SERVING)
            daemon.process.terminate()
            self.assertEqual(next(watch).status, NOT_SERVING)

    def test_reflection_is_enough_to_call(self):
        with ControlDaemon() as daemon, channel_to(daemon) as channel:
            grpc.channel_ready_future(channel).result(PATIENCE)
            database = ProtoReflectionDescriptorDatabase(channel)
            self.assertLessEqual({SERVICE, "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"},
                                 set(database.get_services()))
            method = descriptor_pool.DescriptorPool(database).FindServiceByName(SERVICE).methods_by_name["ListStreams"]
            request = message_factory.GetMessageClass(method.input_type)
            response = message_factory.GetMessageClass(method.output_type)
            call = channel.unary_unary(f"/{SERVICE}/{method.name}", request.SerializeToString, response.FromString)
            streams = call(request(), timeout=PATIENCE).streams
            self.assertEqual([(one.name, one.state, one.batch_size) for one in streams], [("train", "ready", 4)])

    def test_a_message_that_is_too_large_is_refused(self):
        with ControlDaemon() as daemon, channel_to(daemon) as channel:
            call = channel.unary_unary(f"/{SERVICE}/GetKeys")
            with self.assertRaises(grpc.RpcError) as refused:
                call(bytes(17 << 20), timeout=PATIENCE)
            self.assertEqual(refused.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
            self.assertEqual(health(channel), SERVING)


if __name__ == "__main__":
    main()
